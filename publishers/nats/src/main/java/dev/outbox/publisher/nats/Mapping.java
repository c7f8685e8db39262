package dev.outbox.publisher.nats;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.publisher.core.AsciiJson;
import dev.outbox.publisher.core.Attributes;
import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.core.PercentEncoding;
import dev.outbox.spi.store.StoredMessage;
import io.nats.client.impl.Headers;
import java.net.URI;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** From a message to that of NATS; see {@link NatsPublisher} for what is where (P4). */
final class Mapping {
  static final String MESSAGE_ID = "Nats-Msg-Id";
  static final String KEY = "outbox-key";
  static final String HEADERS = "outbox-headers";
  private static final String CONTENT_TYPE = "content-type";

  /** Longer ones would take room twice. */
  private static final int SHORT = 255;

  /** A header of the server's could delete what is in the stream, as Nats-Rollup does. */
  private static final Pattern RESERVED = Pattern.compile("nats-.*|outbox-.*|ce-.*|content-type");

  private static final Pattern NAME = Pattern.compile("[!-9;-~]+");

  /** Not empty, and spaces only inside. */
  private static final Pattern PLAIN = Pattern.compile("[!-~](?:[ -~]*[!-~])?");

  private final Destination destination;
  private final @Nullable URI cloudEventsSource;

  /**
   * A message as it is sent.
   *
   * @param place as {@link Subjects#place}
   */
  record Outgoing(String subject, String place, Headers headers, byte[] body) {
    long size() {
      return (long) headers.serializedLength() + body.length;
    }
  }

  Mapping(Destination destination, @Nullable URI cloudEventsSource) {
    this.destination = destination.escaping(Subjects::token);
    this.cloudEventsSource = cloudEventsSource;
  }

  /**
   * The message as it is sent.
   *
   * @throws Destination.MissingException when it has no destination
   * @throws IllegalArgumentException when that is no subject
   */
  Outgoing of(StoredMessage stored) {
    OutboxMessage message = stored.message();
    String subject = Subjects.checked(destination.of(stored));
    Headers headers = new Headers();
    addOwn(headers, message);
    headers.put(MESSAGE_ID, message.id().toString());
    headers.put(KEY, PercentEncoding.encodeHeader(message.recordKey()));
    Attributes.forEachEncoded(stored, cloudEventsSource, (name, value) -> headers.put(name, value));
    if (isPlain(message.contentType())) {
      headers.put(CONTENT_TYPE, message.contentType());
    }
    return new Outgoing(subject, Subjects.place(subject, message), headers, message.payload());
  }

  /** All as JSON, because clients lose the order of names; short and plain ones as they are too. */
  private static void addOwn(Headers headers, OutboxMessage message) {
    if (message.headers().isEmpty()) {
      return;
    }
    headers.put(HEADERS, AsciiJson.headers(message.headers()));
    for (Header header : message.headers()) {
      if (header.name().length() <= SHORT
          && NAME.matcher(header.name()).matches()
          && !RESERVED.matcher(header.name().toLowerCase(Locale.ROOT)).matches()
          && isPlain(header.value())) {
        headers.add(header.name(), header.value());
      }
    }
  }

  private static boolean isPlain(String value) {
    return value.length() <= SHORT && PLAIN.matcher(value).matches();
  }
}
