package dev.outbox.publisher.nats;

import static java.util.Objects.requireNonNull;

import dev.outbox.Texts;
import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.core.Reconnecting;
import dev.outbox.publisher.core.Reconnecting.NoConnectionException;
import dev.outbox.publisher.core.SilentPlaces;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import io.nats.client.Options;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Publishes to streams of NATS JetStream. Safe for use by many threads, as long as calls at the
 * same time have no key in common; claims have none (C1).
 *
 * <p><b>Order (P2).</b> At most one message of a key waits for its acknowledgement; all keys are
 * sent together. The client tries nothing again by itself, and a lost connection is replaced, not
 * reopened. So nothing is sent after its call has ended.
 *
 * <p><b>Durability (P1).</b> Delivered means that the stream has acknowledged. A server writes
 * acknowledged messages to the disk every two minutes only. A power failure loses them, unless the
 * server has {@code sync_interval: always}, or the stream has three replicas on machines that do
 * not fail together.
 *
 * <p><b>A message.</b> The subject is the {@link Builder#destination}. {@code Nats-Msg-Id} is the
 * message's id: within its {@code duplicate_window} the stream drops repetitions. Other headers are
 * {@code outbox-key} (the record key), {@linkplain dev.outbox.publisher.core.Attributes#forEach the
 * library's} with {@code outbox-content-type} in place of {@code content-type}, and where the
 * message has headers {@code outbox-headers} (P4). NATS has ASCII in headers: the values are
 * percent-encoded, but for {@code outbox-headers}, which is {@code [["name","value"],…]}, the
 * message's own headers as JSON in ASCII. Of those, short ones of visible ASCII are headers of
 * their own too, and so is {@code content-type}. Names that begin with {@code Nats-} are the
 * server's, and are in {@code outbox-headers} only.
 *
 * <p><b>Results (P3).</b>
 *
 * <ul>
 *   <li>rejected: larger than the server's {@code max_payload} or the stream's {@code
 *       max_msg_size}, headers larger than 64 KiB, a destination that is no subject;
 *   <li>unavailable, with the subject, and with {@code *} in it where its last token is the
 *       message's key: no stream has it, the stream is full, has no leader or does not acknowledge,
 *       or we may not publish there;
 *   <li>unavailable, as a whole: no connection, no sign of life, or a client's queue that stays
 *       full;
 *   <li>failed: anything else.
 * </ul>
 */
public final class NatsPublisher implements MessagePublisher {

  /** The default of {@link Builder#timeout}. */
  public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(20);

  /** The default of {@link Builder#destination}, as a pattern. */
  public static final String DEFAULT_DESTINATION = "{aggregateType}.{recordKey}";

  private final Call.Parts parts;

  private NatsPublisher(Call.Parts parts) {
    this.parts = parts;
  }

  /** Starts with the defaults that each setter names. */
  public static Builder builder() {
    return new Builder();
  }

  /** Returns within the timeout (P5); see {@link NatsPublisher} for the results. */
  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    return new Call(parts, messages).run();
  }

  /** Closes the connection; waits for that at most a quarter of the timeout. */
  @Override
  public void close() {
    parts.links().close(TimeUnit.NANOSECONDS.toMillis(parts.timing().patience()));
  }

  /** The servers, without what may be secret. */
  @Override
  public String address() {
    return parts.address();
  }

  /** Connects, if need be, and waits for an answer to a ping. */
  @Override
  public Optional<String> unreachable(Duration patience) throws InterruptedException {
    long end = System.nanoTime() + patience.toNanos();
    try {
      Link link = parts.links().get(patience.toNanos());
      long left = Math.max(1_000_000, end - System.nanoTime());
      return link.answers(Duration.ofNanos(left))
          ? Optional.empty()
          : Optional.of("no answer within " + Texts.time(patience));
    } catch (NoConnectionException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
  }

  /** Collects the settings; {@link #build()} checks them. Not safe for use by many threads. */
  public static final class Builder {
    private final List<String> servers = new ArrayList<>();
    private Consumer<Options.Builder> options = unchanged -> {};
    private Destination destination = Destination.pattern(DEFAULT_DESTINATION);
    private Duration timeout = DEFAULT_TIMEOUT;
    private @Nullable URI cloudEventsSource;

    private Builder() {}

    /**
     * URLs of servers, {@code nats://host:4222} or {@code tls://…}; one at least is required. Name
     * every server of a cluster: no others are connected to.
     */
    public Builder servers(String... urls) {
      servers.addAll(List.of(urls));
      return this;
    }

    /**
     * Other settings of the client, as for users and TLS; called for each connection. What the
     * order of messages needs is set afterwards: reconnects, timeouts and the error listener are
     * the publisher's own.
     */
    public Builder options(Consumer<Options.Builder> options) {
      this.options = requireNonNull(options, "options");
      return this;
    }

    /**
     * The subject of a message; default {@link #DEFAULT_DESTINATION}. What placeholders stand for
     * is one token, with everything but letters, digits, {@code -} and {@code _} percent-encoded;
     * where it is then longer than 255 characters, a hash of it. A stream keeps some hundred bytes
     * of memory for each subject that it holds: where the number of keys has no bound, as with
     * messages that need no order, leave the key out.
     */
    public Builder destination(Destination destination) {
      this.destination = requireNonNull(destination, "destination");
      return this;
    }

    /**
     * How long {@link NatsPublisher#publish} takes at most; default {@link #DEFAULT_TIMEOUT}, at
     * least one second. It must be below the relay's publish timeout.
     */
    public Builder timeout(Duration timeout) {
      this.timeout = requireNonNull(timeout, "timeout");
      return this;
    }

    /**
     * Adds headers that make each message a CloudEvent in binary mode: {@code ce-} and the name of
     * each {@linkplain dev.outbox.publisher.core.Attributes#forEachOfCloudEvent attribute}.
     * Default: none.
     */
    public Builder cloudEvents(URI source) {
      this.cloudEventsSource = requireNonNull(source, "source");
      return this;
    }

    /**
     * Checks and builds; connects in the background, so the server need not be there yet.
     *
     * @throws IllegalArgumentException naming the setting, its value and what to do, without
     *     secrets
     */
    public NatsPublisher build() {
      if (servers.isEmpty()) {
        throw new IllegalArgumentException(
            "servers is missing: give the URL of a server, as nats://localhost:4222");
      }
      Timing timing = Timing.of(timeout);
      Reconnecting<Link> links =
          new Reconnecting<>("outbox-nats", () -> Link.open(settings(timing)), Link::problem);
      check(timing);
      Call.Parts parts =
          new Call.Parts(
              links,
              new Mapping(destination, cloudEventsSource),
              timing,
              new SilentPlaces<>(timing.patience(), timing.impatience(), timing.pause()),
              Urls.masked(String.join(",", servers)));
      var unused = links.start();
      return new NatsPublisher(parts);
    }

    /** The client's own checks are made when it connects: too late to refuse a setting. */
    private void check(Timing timing) {
      try {
        Options unused = settings(timing).build();
      } catch (RuntimeException e) {
        throw new IllegalArgumentException(
            "the settings of the client cannot be used: " + Urls.masked("" + e.getMessage()));
      }
    }

    private Options.Builder settings(Timing timing) {
      Options.Builder builder = new Options.Builder();
      options.accept(builder);
      return builder
          .servers(servers.toArray(String[]::new))
          .maxReconnects(0)
          .connectionTimeout(Duration.ofNanos(timing.connect()))
          .requestCleanupInterval(Duration.ofNanos(timing.timeout()))
          .writeQueuePushTimeout(Duration.ofNanos(timing.impatience()));
    }
  }
}
