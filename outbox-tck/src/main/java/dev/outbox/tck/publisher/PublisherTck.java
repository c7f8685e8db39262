package dev.outbox.tck.publisher;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Place;
import dev.outbox.tck.internal.RuleNames;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestClassOrder;
import org.junit.jupiter.api.extension.ExtendWith;

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
 * implements the interfaces that are declared here, as {@link BrokerStops}; what is not unlocked is
 * skipped and says what would unlock it. Rule numbers are on each test, or its class, as {@link
 * Rule}, in its name and at the begin of its failures.
 *
 * <p>No call of the publisher or of the test class can hang the suite: each is given up after a
 * time, publish and close 5 s after {@link #timeout}. The tests of the fixture run first, and
 * nothing else when one of them fails. An outage happens once, and several tests ask about it. A
 * test that needs what another rule breaks is skipped and says so. When the tests that failed took
 * a minute altogether the rest is skipped, unless {@code -Doutbox.tck.all=true}.
 */
@DisplayNameGeneration(RuleNames.class)
@ExtendWith(PublisherFrame.class)
@TestClassOrder(Place.Order.class)
public abstract class PublisherTck {
  /**
   * A publisher, with the time limit of {@link #timeout()}; the suite closes it. Called at least
   * once a test.
   */
  protected abstract MessagePublisher createPublisher();

  /** All that a consumer can read now from all destinations; of each key the oldest first. */
  protected abstract List<Received> received();

  /** Makes {@link #received()} empty, and all destinations usable. */
  protected abstract void reset();

  /** In which the publisher's publish and close must return (P5); default 20 s. */
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
    /** Turns a message into one that goes there; its key stays. */
    OutboxMessage.Builder toMissing(OutboxMessage.Builder message);
  }

  /** There is a topic or queue that takes messages, and cannot make them durable now. */
  public interface DestinationNotDurable {
    /** Turns a message into one that goes there; its key stays. */
    OutboxMessage.Builder toNotDurable(OutboxMessage.Builder message);
  }

  /**
   * There is a topic, queue or host that takes what is sent there and never answers, while others
   * do.
   */
  public interface DestinationHangs {
    /** Turns a message into one that goes there; its key stays. */
    OutboxMessage.Builder toHanging(OutboxMessage.Builder message);
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

  /**
   * A message as a consumer sees it. Make one by {@link #of}.
   *
   * @param headers in the broker's order; those that the publisher adds may be among them
   */
  public record Received(
      @Nullable String key,
      byte[] payload,
      List<Header> headers,
      Map<Attribute, String> attributes) {

    /** A message without attributes. */
    public static Received of(@Nullable String key, byte[] payload, List<Header> headers) {
      return new Received(key, payload.clone(), List.copyOf(headers), Map.of());
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

    /** The same with the attributes of a message: where the receiver gets the message itself. */
    public Received about(StoredMessage stored) {
      OutboxMessage message = stored.message();
      return with(Attribute.ID, message.id().toString())
          .with(Attribute.AGGREGATE_TYPE, message.aggregateType())
          .with(Attribute.AGGREGATE_ID, message.aggregateId())
          .with(Attribute.EVENT_TYPE, message.eventType())
          .with(Attribute.CONTENT_TYPE, message.contentType())
          .with(Attribute.CREATED_AT, stored.createdAt().toString())
          .with(Attribute.SEQUENCE, Long.toString(stored.sequence()))
          .with(Attribute.DEDUP_KEY, message.dedupKey())
          .with(Attribute.CORRELATION_ID, message.correlationId());
    }

    @Nullable String attribute(Attribute attribute) {
      return attributes.get(attribute);
    }

    @Override
    public String toString() {
      return "key %s, %s bytes, %s, headers %s".formatted(key, payload.length, attributes, headers);
    }
  }

  @Nested
  class Fixture extends PublisherTests.FixtureTests {}

  @Nested
  class Results extends PublisherResultTests {}

  @Nested
  class Trouble extends PublisherTroubleTests {}
}
