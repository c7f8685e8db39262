package dev.outbox;

import static java.util.Objects.requireNonNull;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What an application appends. Immutable; built with {@link #builder()}, which checks every limit
 * (A5). A text is not blank, has at most {@link #MAX_TEXT} Unicode code points, and neither NUL nor
 * half a surrogate pair in it, because not every database stores them.
 */
public final class OutboxMessage {

  /** The most code points of any text field, and of a header's name. */
  public static final int MAX_TEXT = Texts.MAX;

  /**
   * The most bytes of a payload. With {@link #MAX_HEADERS} it stays under the 1 MiB that brokers
   * accept unless told otherwise. Put larger things elsewhere and send a reference.
   */
  public static final int MAX_PAYLOAD = 1_000_000;

  /** The most bytes of all headers together: names and values in UTF-8. */
  public static final int MAX_HEADERS = 16_000;

  /** The most headers. */
  public static final int MAX_HEADER_COUNT = 100;

  /** The longest {@link Builder#deliverAfter} and {@link Builder#expireAfter}. */
  public static final Duration MAX_DELAY = Duration.ofDays(3650);

  /** The content type of a message that does not name one. */
  public static final String DEFAULT_CONTENT_TYPE = "application/json";

  private static final Instant EARLIEST = Instant.parse("1970-01-01T00:00:00Z");
  private static final Instant LATEST = Instant.parse("9999-01-01T00:00:00Z");

  private final UUID id;
  private final String aggregateType;
  private final String aggregateId;
  private final String eventType;
  private final @Nullable String partitionKey;
  private final String key;
  private final byte[] payload;
  private final String contentType;
  private final List<Header> headers;
  private final @Nullable String dedupKey;
  private final @Nullable String correlationId;
  private final @Nullable Instant availableAt;
  private final @Nullable Duration deliverAfter;
  private final @Nullable Instant expiresAt;
  private final @Nullable Duration expireAfter;
  private final @Nullable Integer maxAttempts;

  private OutboxMessage(Builder b) {
    if (b.id == null) {
      throw new InvalidMessageException("id is null: leave it out and a random one is used");
    }
    id = b.id;
    aggregateType = Texts.name("aggregateType", b.aggregateType);
    aggregateId = Texts.name("aggregateId", b.aggregateId);
    eventType = Texts.name("eventType", b.eventType);
    if (b.unordered && b.partitionKey != null) {
      throw new InvalidMessageException(
          "partitionKey and unordered are both given: a message has an order or has none");
    }
    String given = b.unordered ? id.toString() : b.partitionKey;
    partitionKey = given == null ? null : Texts.name("partitionKey", given);
    key = key(aggregateType, aggregateId, partitionKey);
    if (b.payload == null) {
      throw new InvalidMessageException("payload is missing: an empty one is new byte[0]");
    }
    payload = b.payload;
    if (payload.length > MAX_PAYLOAD) {
      throw new InvalidMessageException(
          "payload has %s bytes, at most %s are allowed: store it elsewhere and send a reference"
              .formatted(payload.length, MAX_PAYLOAD));
    }
    contentType = Texts.name("contentType", b.contentType);
    headers = List.copyOf(b.headers);
    checkHeaders(headers);
    dedupKey = b.dedupKey == null ? null : Texts.name("dedupKey", b.dedupKey);
    correlationId = b.correlationId == null ? null : Texts.name("correlationId", b.correlationId);
    availableAt = time("availableAt", b.availableAt, "deliverAfter", b.deliverAfter);
    deliverAfter = span("deliverAfter", b.deliverAfter);
    expiresAt = time("expiresAt", b.expiresAt, "expireAfter", b.expireAfter);
    expireAfter = span("expireAfter", b.expireAfter);
    if (deliverAfter != null && expireAfter != null && expireAfter.compareTo(deliverAfter) <= 0) {
      throw new InvalidMessageException(
          "expireAfter is %s and deliverAfter %s, so it would never be delivered: give it longer"
              .formatted(Texts.time(expireAfter), Texts.time(deliverAfter)));
    }
    maxAttempts = b.maxAttempts;
    if (maxAttempts != null && maxAttempts < 1) {
      throw new InvalidMessageException(
          "maxAttempts is %s, at least 1 is needed".formatted(maxAttempts));
    }
  }

  /** Starts a message with a random id, no headers and the default content type. */
  public static Builder builder() {
    return new Builder();
  }

  /** Starts with all fields of this message, its id too; an unordered one keeps its key. */
  public Builder toBuilder() {
    return new Builder(this);
  }

  /** The message's own id, by which consumers recognise a repeated delivery. */
  public UUID id() {
    return id;
  }

  /** The kind of thing that changed, as {@code order}; by default the topic or exchange. */
  public String aggregateType() {
    return aggregateType;
  }

  /** The id of what changed, as {@code 42}. */
  public String aggregateId() {
    return aggregateId;
  }

  /** What happened, as {@code OrderPlaced}. */
  public String eventType() {
    return eventType;
  }

  /** The key given by the application, or null; see {@link #key()}. */
  public @Nullable String partitionKey() {
    return partitionKey;
  }

  /**
   * Messages of one key are delivered in order: the partition key, or else the aggregate's type and
   * id with a slash between them, as {@code order/42}. At most 511 code points.
   */
  public String key() {
    return key;
  }

  /**
   * The {@link #key()} of a message with these fields, for stores that have a row and no message.
   */
  public static String key(
      String aggregateType, String aggregateId, @Nullable String partitionKey) {
    return partitionKey != null ? partitionKey : aggregateType + '/' + aggregateId;
  }

  /**
   * What a broker gets as the message's key: the partition key, or else the aggregate's id. The
   * aggregate's type is not in it, because consumers of one topic mostly meet one type.
   */
  public String recordKey() {
    return partitionKey != null ? partitionKey : aggregateId;
  }

  /** A copy of the payload, exactly as given. */
  public byte[] payload() {
    return payload.clone();
  }

  /** The payload's size in bytes. */
  public int payloadSize() {
    return payload.length;
  }

  /** The payload read as UTF-8. */
  public String payloadAsString() {
    return new String(payload, StandardCharsets.UTF_8);
  }

  /** The payload's media type. */
  public String contentType() {
    return contentType;
  }

  /** Headers in the order given; unmodifiable, may be empty. */
  public List<Header> headers() {
    return headers;
  }

  /** The key by which a repeated append is recognised within the dedup window, or null (A4). */
  public @Nullable String dedupKey() {
    return dedupKey;
  }

  /** What ties this message to others, or null. */
  public @Nullable String correlationId() {
    return correlationId;
  }

  /**
   * When the message is due, by the database's clock and to the microsecond; null: at once. For one
   * appended with {@link #deliverAfter()}, the store fills this in.
   */
  public @Nullable Instant availableAt() {
    return availableAt;
  }

  /** How long after the append the message is due; null when not given. */
  public @Nullable Duration deliverAfter() {
    return deliverAfter;
  }

  /**
   * When the message expires, by the database's clock and to the microsecond: it is not published
   * from then on. Null: never. For one appended with {@link #expireAfter()}, the store fills this
   * in.
   */
  public @Nullable Instant expiresAt() {
    return expiresAt;
  }

  /** How long after the append the message expires; null when not given. */
  public @Nullable Duration expireAfter() {
    return expireAfter;
  }

  /**
   * For stores: this message with the times that {@link #deliverAfter()} and {@link #expireAfter()}
   * lead to.
   */
  public OutboxMessage appendedAt(Instant time) {
    if (deliverAfter == null && expireAfter == null) {
      return this;
    }
    Builder dated = toBuilder().deliverAfter(null).expireAfter(null);
    if (deliverAfter != null) {
      dated.availableAt(time.plus(deliverAfter));
    }
    if (expireAfter != null) {
      dated.expiresAt(time.plus(expireAfter));
    }
    return dated.build();
  }

  /**
   * How often this message is tried before it becomes a dead letter; at least 1. Null: as often as
   * the relay's retry policy says.
   */
  public @Nullable Integer maxAttempts() {
    return maxAttempts;
  }

  @Override
  public boolean equals(@Nullable Object o) {
    return o instanceof OutboxMessage m
        && id.equals(m.id)
        && aggregateType.equals(m.aggregateType)
        && aggregateId.equals(m.aggregateId)
        && eventType.equals(m.eventType)
        && Objects.equals(partitionKey, m.partitionKey)
        && Arrays.equals(payload, m.payload)
        && contentType.equals(m.contentType)
        && headers.equals(m.headers)
        && Objects.equals(dedupKey, m.dedupKey)
        && Objects.equals(correlationId, m.correlationId)
        && Objects.equals(availableAt, m.availableAt)
        && Objects.equals(deliverAfter, m.deliverAfter)
        && Objects.equals(expiresAt, m.expiresAt)
        && Objects.equals(expireAfter, m.expireAfter)
        && Objects.equals(maxAttempts, m.maxAttempts);
  }

  @Override
  public int hashCode() {
    return id.hashCode();
  }

  /** Names the message without its payload and headers, which may be secret. */
  @Override
  public String toString() {
    return "%s %s of %s %s, key %s, %s bytes"
        .formatted(eventType, id, aggregateType, aggregateId, key, payload.length);
  }

  private static void checkHeaders(List<Header> headers) {
    if (headers.size() > MAX_HEADER_COUNT) {
      throw new InvalidMessageException(
          "there are %s headers, at most %s are allowed: move some into the payload"
              .formatted(headers.size(), MAX_HEADER_COUNT));
    }
    long bytes = 0;
    for (Header header : headers) {
      bytes += header.name().getBytes(StandardCharsets.UTF_8).length;
      bytes += header.value().getBytes(StandardCharsets.UTF_8).length;
    }
    if (bytes > MAX_HEADERS) {
      throw new InvalidMessageException(
          "headers have %s bytes, at most %s are allowed: move some into the payload"
              .formatted(bytes, MAX_HEADERS));
    }
    for (Header header : headers) {
      Texts.name("a header's name", header.name());
      Texts.storable("header " + header.name(), header.value());
    }
  }

  private static @Nullable Instant time(
      String name, @Nullable Instant time, String orElse, @Nullable Duration span) {
    if (time != null && span != null) {
      throw new InvalidMessageException(
          "%s and %s are both given: give one".formatted(name, orElse));
    }
    if (time != null && (time.isBefore(EARLIEST) || !time.isBefore(LATEST))) {
      throw new InvalidMessageException(
          "%s is %s, allowed is from %s to %s".formatted(name, time, EARLIEST, LATEST));
    }
    return time == null ? null : time.truncatedTo(ChronoUnit.MICROS);
  }

  private static @Nullable Duration span(String name, @Nullable Duration span) {
    if (span != null && (span.isNegative() || span.compareTo(MAX_DELAY) > 0)) {
      throw new InvalidMessageException(
          "%s is %s, allowed is from 0 to %s"
              .formatted(name, Texts.time(span), Texts.time(MAX_DELAY)));
    }
    return span;
  }

  /** Collects the fields; {@link #build()} checks them. Not safe for use by many threads. */
  public static final class Builder {
    private @Nullable UUID id;
    private boolean idChosen;
    private @Nullable String aggregateType;
    private @Nullable String aggregateId;
    private @Nullable String eventType;
    private @Nullable String partitionKey;
    private boolean unordered;
    private byte @Nullable [] payload;
    private String contentType = DEFAULT_CONTENT_TYPE;
    private final List<Header> headers = new ArrayList<>();
    private @Nullable String dedupKey;
    private @Nullable String correlationId;
    private @Nullable Instant availableAt;
    private @Nullable Duration deliverAfter;
    private @Nullable Instant expiresAt;
    private @Nullable Duration expireAfter;
    private @Nullable Integer maxAttempts;

    private Builder() {}

    private Builder(OutboxMessage m) {
      id = m.id;
      idChosen = true;
      aggregateType = m.aggregateType;
      aggregateId = m.aggregateId;
      eventType = m.eventType;
      partitionKey = m.partitionKey;
      payload = m.payload; // messages share it, and never give it away
      contentType = m.contentType;
      headers.addAll(m.headers);
      dedupKey = m.dedupKey;
      correlationId = m.correlationId;
      availableAt = m.availableAt;
      deliverAfter = m.deliverAfter;
      expiresAt = m.expiresAt;
      expireAfter = m.expireAfter;
      maxAttempts = m.maxAttempts;
    }

    /** Default: random. */
    public Builder id(UUID id) {
      this.id = id;
      idChosen = true;
      return this;
    }

    /** The aggregate's type and id; required. */
    public Builder aggregate(String type, String id) {
      return aggregateType(type).aggregateId(id);
    }

    /** Required. */
    public Builder aggregateType(String aggregateType) {
      this.aggregateType = aggregateType;
      return this;
    }

    /** Required. */
    public Builder aggregateId(String aggregateId) {
      this.aggregateId = aggregateId;
      return this;
    }

    /** Required. */
    public Builder eventType(String eventType) {
      this.eventType = eventType;
      return this;
    }

    /**
     * Default: null, which makes the aggregate's type and id the key. Give all messages of an
     * aggregate one, or none: brokers see a partition key and an aggregate's id as two keys.
     */
    public Builder partitionKey(@Nullable String partitionKey) {
      this.partitionKey = partitionKey;
      return this;
    }

    /** This message needs no order: its key is its own id. */
    public Builder unordered() {
      this.unordered = true;
      return this;
    }

    /** Required, copied; may be empty. */
    public Builder payload(byte[] payload) {
      this.payload = requireNonNull(payload, "payload").clone();
      return this;
    }

    /** The payload is this text in UTF-8. */
    public Builder payload(String payload) {
      this.payload = requireNonNull(payload, "payload").getBytes(StandardCharsets.UTF_8);
      return this;
    }

    /** Default: {@link #DEFAULT_CONTENT_TYPE}. */
    public Builder contentType(String contentType) {
      this.contentType = contentType;
      return this;
    }

    /** Adds a header after those given before, also when the name was given before. */
    public Builder header(String name, String value) {
      headers.add(new Header(name, value));
      return this;
    }

    /** Adds headers after those given before. */
    public Builder addHeaders(List<Header> more) {
      headers.addAll(more);
      return this;
    }

    /**
     * A message whose dedup key was appended before, within the store's dedup window (7 days unless
     * told otherwise), is not stored (A4). Default: null, always stored.
     */
    public Builder dedupKey(@Nullable String dedupKey) {
      this.dedupKey = dedupKey;
      return this;
    }

    /** Default: null. */
    public Builder correlationId(@Nullable String correlationId) {
      this.correlationId = correlationId;
      return this;
    }

    /** Default: null, at once. Cut to microseconds. */
    public Builder availableAt(@Nullable Instant availableAt) {
      this.availableAt = availableAt;
      return this;
    }

    /** Default: null, at once. At most {@link #MAX_DELAY}. */
    public Builder deliverAfter(@Nullable Duration deliverAfter) {
      this.deliverAfter = deliverAfter;
      return this;
    }

    /**
     * Default: null, never. Cut to microseconds. A message whose turn comes at or after this time
     * is not published: it leaves the outbox, and the next of its key goes on (C10). One that a
     * relay claimed before may still be delivered. A store that lets no message expire refuses it
     * at the append, with an {@link InvalidMessageException}.
     */
    public Builder expiresAt(@Nullable Instant expiresAt) {
      this.expiresAt = expiresAt;
      return this;
    }

    /**
     * As {@link #expiresAt}, so long after the append. At most {@link #MAX_DELAY}, and longer than
     * {@link #deliverAfter}.
     */
    public Builder expireAfter(@Nullable Duration expireAfter) {
      this.expireAfter = expireAfter;
      return this;
    }

    /** Default: null, as the relay's retry policy says. At least 1. */
    public Builder maxAttempts(@Nullable Integer maxAttempts) {
      this.maxAttempts = maxAttempts;
      return this;
    }

    /**
     * Checks and builds.
     *
     * @throws InvalidMessageException naming the field, its size, the limit and what to do
     */
    public OutboxMessage build() {
      // Not before: a random id costs as much as all the rest, and stored messages bring theirs.
      if (!idChosen) {
        id(UUID.randomUUID());
      }
      return new OutboxMessage(this);
    }
  }
}
