package dev.outbox.tck;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.MessagePublisher;
import dev.outbox.spi.ReachablePublisher;
import dev.outbox.spi.Result;
import dev.outbox.spi.StoredMessage;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.opentest4j.TestAbortedException;

/**
 * What every publisher must pass. The author of a publisher writes one test class with three
 * methods:
 *
 * <pre>{@code
 * class MyPublisherTest extends PublisherTck {
 *   protected MessagePublisher createPublisher() { … }
 *   protected List<Received> received() { … }
 *   protected void reset() { … }
 * }
 * }</pre>
 *
 * <p>That runs what needs nothing but a broker that works. The rest is unlocked when the class also
 * implements the interfaces in here, as {@link BrokerStops}; what is not unlocked is skipped and
 * says what would unlock it. Rule numbers are on each test as {@link Rule}.
 */
public abstract class PublisherTck {
  private final AtomicLong sequences = new AtomicLong();
  private @Nullable MessagePublisher publisher;

  /** A publisher, with the time limit of {@link #timeout()}; the suite closes it. */
  protected abstract MessagePublisher createPublisher();

  /** All that a consumer can read now from all destinations; of each key the oldest first. */
  protected abstract List<Received> received();

  /** Makes {@link #received()} empty, and all destinations usable. */
  protected abstract void reset();

  /** In which the publisher's publish must return (P5); default 20 s. */
  protected Duration timeout() {
    return Duration.ofSeconds(20);
  }

  /** How long to wait for what has to happen; default 60 s. */
  protected Duration patience() {
    return Duration.ofSeconds(60);
  }

  /** The broker can be stopped in good order and started again. */
  public interface BrokerStops {
    void stopBroker();

    /** Also after {@link BrokerCrashes#killBroker()}; returns when it can be used. */
    void startBroker();
  }

  /** The broker can be ended as by a crash. */
  public interface BrokerCrashes extends BrokerStops {
    void killBroker();
  }

  /** The broker can be made to hang: it keeps its connections and answers nothing. */
  public interface BrokerHangs {
    void pauseBroker();

    void resumeBroker();
  }

  /** There are messages that the broker never takes. */
  public interface BrokerRejects {
    /** Turns a message into one that is rejected; its key stays. */
    OutboxMessage.Builder rejected(OutboxMessage.Builder message);
  }

  /** There is a topic or queue that does not exist. */
  public interface DestinationMissing {
    /** Sends a message there; its key stays. */
    OutboxMessage.Builder toMissing(OutboxMessage.Builder message);
  }

  /** What must arrive besides key, payload and the message's own headers (P4). */
  public enum Attribute {
    ID,
    AGGREGATE_TYPE,
    AGGREGATE_ID,
    EVENT_TYPE,
    CONTENT_TYPE,
    /** ISO 8601. */
    CREATED_AT,
    SEQUENCE,
    DEDUP_KEY,
    CORRELATION_ID
  }

  /** A message as a consumer sees it. Immutable. */
  public static final class Received {
    private final @Nullable String key;
    private final byte[] payload;
    private final List<Header> headers;
    private final Map<Attribute, String> attributes;

    private Received(
        @Nullable String key,
        byte[] payload,
        List<Header> headers,
        Map<Attribute, String> attributes) {
      this.key = key;
      this.payload = payload;
      this.headers = headers;
      this.attributes = attributes;
    }

    /**
     * A message without attributes.
     *
     * @param headers in the broker's order; those that the publisher adds may be among them
     */
    public static Received of(@Nullable String key, byte[] payload, List<Header> headers) {
      return new Received(
          key, payload.clone(), List.copyOf(headers), new EnumMap<>(Attribute.class));
    }

    /** The same with an attribute; null is none. */
    public Received with(Attribute attribute, @Nullable String value) {
      if (value == null) {
        return this;
      }
      Map<Attribute, String> more = new EnumMap<>(Attribute.class);
      more.putAll(attributes);
      more.put(attribute, value);
      return new Received(key, payload, headers, more);
    }

    @Nullable String key() {
      return key;
    }

    byte[] payload() {
      return payload.clone();
    }

    List<Header> headers() {
      return headers;
    }

    @Nullable String attribute(Attribute attribute) {
      return attributes.get(attribute);
    }

    @Override
    public String toString() {
      return "key %s, %d bytes, %s, headers %s".formatted(key, payload.length, attributes, headers);
    }
  }

  @BeforeEach
  void prepare() {
    reset();
    publisher = createPublisher();
  }

  @AfterEach
  void closePublisher() {
    if (publisher != null) {
      publisher.close();
    }
  }

  @Nested
  @DisplayName("The fixture")
  class Fixture extends PublisherTests.FixtureTests {
    Fixture() {
      super(PublisherTck.this);
    }
  }

  @Nested
  @DisplayName("Results")
  class Results extends PublisherTests.ResultTests {
    Results() {
      super(PublisherTck.this);
    }
  }

  @Nested
  @DisplayName("Order")
  class Order extends PublisherTests.OrderTests {
    Order() {
      super(PublisherTck.this);
    }
  }

  @Nested
  @DisplayName("Trouble")
  class Trouble extends PublisherTroubleTests {
    Trouble() {
      super(PublisherTck.this);
    }
  }

  @Nested
  @DisplayName("What arrives")
  class Arrival extends PublisherArrivalTests {
    Arrival() {
      super(PublisherTck.this);
    }
  }

  /** This test class as the fixture that unlocks a test. */
  <F> F fixture(Class<F> type) {
    if (!type.isInstance(this)) {
      throw new TestAbortedException(
          "skipped: runs when the test class implements PublisherTck." + type.getSimpleName());
    }
    return type.cast(this);
  }

  /** The publisher's ability to ask its broker for a sign of life. */
  ReachablePublisher reachable() {
    if (publisher instanceof ReachablePublisher reachable) {
      return reachable;
    }
    throw new TestAbortedException(
        "skipped: runs when the publisher implements ReachablePublisher");
  }

  OutboxMessage.Builder message(String key) {
    return OutboxMessage.builder()
        .aggregate("tck", key)
        .eventType("Happened")
        .payload("{\"key\":\"" + key + "\"}");
  }

  StoredMessage stored(OutboxMessage.Builder message) {
    Instant now = Instant.now().truncatedTo(ChronoUnit.MICROS);
    return StoredMessage.of(sequences.incrementAndGet(), 0, now, message.build());
  }

  List<StoredMessage> batch(OutboxMessage.Builder... messages) {
    return Arrays.stream(messages).map(this::stored).toList();
  }

  /** Publishes on a thread of its own, so that a publisher that hangs fails the test only. */
  List<Result> publish(List<StoredMessage> messages) {
    Duration limit = timeout().plus(patience());
    MessagePublisher to = requireNonNull(publisher, "createPublisher() returned null");
    CompletableFuture<List<Result>> results = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                results.complete(to.publish(messages));
              } catch (Throwable e) {
                results.completeExceptionally(e);
              }
            },
            "publisher tck");
    thread.setDaemon(true);
    thread.start();
    try {
      return results.get(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      thread.interrupt();
      throw new AssertionError("publish did not return within " + limit, e);
    } catch (ExecutionException e) {
      throw new AssertionError("publish threw " + e.getCause(), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    }
  }

  /** Publishes until each message was delivered once, as a relay would: in order for each key. */
  void publishUntilDelivered(List<StoredMessage> messages) {
    List<StoredMessage> open = new ArrayList<>(messages);
    long end = System.nanoTime() + patience().toNanos();
    while (!open.isEmpty()) {
      List<Result> results = publish(open);
      List<StoredMessage> rest = new ArrayList<>();
      for (int i = 0; i < open.size(); i++) {
        if (i >= results.size() || !(results.get(i) instanceof Result.Delivered)) {
          rest.add(open.get(i));
        }
      }
      assertThat(rest.isEmpty() || System.nanoTime() - end < 0)
          .as("within %s all is delivered; the last results were %s", patience(), results)
          .isTrue();
      open = rest;
    }
  }

  /** What arrived, once it is as expected or patience is over. */
  List<Received> await(Predicate<List<Received>> expected) {
    long end = System.nanoTime() + patience().toNanos();
    List<Received> now = received();
    while (!expected.test(now) && System.nanoTime() - end < 0) {
      try {
        TimeUnit.MILLISECONDS.sleep(20);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new AssertionError("interrupted", e);
      }
      now = received();
    }
    return now;
  }

  static List<String> ids(List<Received> received) {
    return received.stream().map(r -> String.valueOf(r.attribute(Attribute.ID))).toList();
  }

  static String id(StoredMessage message) {
    return message.message().id().toString();
  }
}
