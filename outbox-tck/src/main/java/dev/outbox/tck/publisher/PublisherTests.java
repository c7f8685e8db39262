package dev.outbox.tck.publisher;

import static org.assertj.core.api.Assertions.fail;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.internal.Patience.OtherRuleBroken;
import dev.outbox.tck.internal.Place;
import dev.outbox.tck.internal.Sentence;
import dev.outbox.tck.publisher.PublisherFrame.Outage;
import dev.outbox.tck.publisher.PublisherTck.BrokerHangs;
import dev.outbox.tck.publisher.PublisherTck.BrokerRejects;
import dev.outbox.tck.publisher.PublisherTck.BrokerStops;
import dev.outbox.tck.publisher.PublisherTck.DestinationHangs;
import dev.outbox.tck.publisher.PublisherTck.DestinationMissing;
import dev.outbox.tck.publisher.PublisherTck.Received;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.opentest4j.TestAbortedException;

/** What the tests of publishers say. */
abstract class PublisherTests {
  /** {@link PublisherFrame} sets it before each test. */
  PatientPublisher tck;

  @SuppressWarnings("NullAway.Init")
  PublisherTests() {}

  private Outage whileStopped() {
    BrokerStops broker = tck.fixture(BrokerStops.class);
    return outage(PublisherFrame.STOPPED, broker::stopBroker, broker::startBroker);
  }

  private Outage whileHung() {
    BrokerHangs broker = tck.fixture(BrokerHangs.class);
    return outage("while the broker hung", broker::pauseBroker, broker::resumeBroker);
  }

  void eachOutage(Consumer<Outage> asks) {
    each(asks, List.of(this::whileStopped, this::whileHung));
  }

  /** Asks what came of bad messages of each kind, of one among some and of several among many. */
  void eachBeside(Consumer<Beside> asks) {
    each(
        asks,
        List.of(
            this::besideRejected,
            this::besideMissing,
            () ->
                besideMany(
                    tck.fixture(BrokerRejects.class)::rejected, "that the broker never takes"),
            () ->
                besideMany(
                    tck.fixture(DestinationMissing.class)::toMissing, "to a missing destination")));
  }

  /** Asks about each of these that the test class can make; in the end it misses the other one. */
  <E> void each(Consumer<E> asks, List<Supplier<E>> made) {
    TestAbortedException missing = null;
    for (Supplier<E> one : made) {
      try {
        asks.accept(one.get());
      } catch (OtherRuleBroken e) {
        throw e;
      } catch (TestAbortedException e) {
        missing = missing == null ? e : missing;
      }
    }
    if (missing != null) {
      throw missing;
    }
  }

  private Outage outage(String when, Runnable begin, Runnable end) {
    return tck.run().outage(when, () -> Outage.happen(tck, when, begin, end));
  }

  /** Fails with this sentence unless it is so. */
  static void check(boolean so, String otherwise, @Nullable Object... values) {
    check(so ? null : otherwise.formatted(values));
  }

  /** Fails with the sentence, if there is one. */
  static void check(@Nullable String wrong) {
    if (wrong != null) {
      fail(wrong);
    }
  }

  /** The same in a test of several rules, of which this one is broken then. */
  static void check(String rule, @Nullable String wrong) {
    check(wrong == null ? null : rule + ": " + wrong);
  }

  /**
   * Fails unless all messages of a call were delivered. One that is unavailable is handed over
   * again, because a broker that is slow now may answer after the call (P3).
   */
  void checkDelivered(Published published) {
    checkDelivered(published, "message %s of %s was %s, and nothing is wrong with any");
  }

  /**
   * The same in other words.
   *
   * @param otherwise for the message's number, how many there are, and its result
   */
  void checkDelivered(Published published, String otherwise) {
    int messages = published.messages().size();
    for (int i = 0; i < messages; i++) {
      Result result = published.result(i);
      if (result instanceof Result.Failed || result instanceof Result.Rejected) {
        throw new AssertionError(
            otherwise.formatted(i + 1, messages, Published.words(result)), published.thrown());
      }
    }
    check(tck.publishUntilDelivered(published.undelivered()));
  }

  /** Some messages, the second of which is bad, and what came of them. */
  record Beside(Published published, List<String> arrived) {}

  /** The second and the fourth message are of one key, "bad", the second is the bad one. */
  Beside besideRejected() {
    OutboxMessage.Builder bad = tck.fixture(BrokerRejects.class).rejected(tck.message("bad"));
    return beside(PublisherFrame.BESIDE_REJECTED, bad, List.of("good", "bad"));
  }

  Beside besideMissing() {
    OutboxMessage.Builder bad = tck.fixture(DestinationMissing.class).toMissing(tck.message("bad"));
    return beside("beside a message to a missing destination", bad, List.of("good", "bad"));
  }

  Beside besideHanging(DestinationHangs broker) {
    return beside(
        PublisherFrame.BESIDE_HANGING, broker.toHanging(tck.message("bad")), List.of("good"));
  }

  /**
   * @param answered the keys whose late answers are waited for (P3)
   */
  private Beside beside(String when, OutboxMessage.Builder bad, List<String> answered) {
    List<StoredMessage> messages =
        tck.batch(
            tck.message("good"), bad, tck.message("good"), tck.message("bad"), tck.message("good"));
    Published published = tck.publishUntilAnswered(when, messages, answered);
    return new Beside(published, PatientPublisher.ids(tck.receive()));
  }

  /** 200 messages of 20 keys, some of which are bad, and what came of them. */
  private Beside besideMany(UnaryOperator<OutboxMessage.Builder> bad, String what) {
    long seed = Long.getLong("outbox.tck.seed", System.nanoTime());
    Random random = new Random(seed);
    List<StoredMessage> messages = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      OutboxMessage.Builder message = tck.message("k" + random.nextInt(20));
      messages.add(tck.stored(random.nextInt(10) == 0 ? bad.apply(message) : message));
    }
    Published published = tck.publish("beside messages " + what + ", seed " + seed, messages);
    return new Beside(published, PatientPublisher.ids(tck.receive()));
  }

  /** A fixture that is wrong makes every other failure hard to read. */
  @Place(Place.FIXTURE)
  @DisplayName("The fixture")
  abstract static class FixtureTests extends PublisherTests {
    @Sentence("what was published can be read back, and is gone after a reset")
    void readsBack() {
      StoredMessage message = tck.stored(tck.message("k"));
      Published published = tck.publish(List.of(message));
      check(published.hung());
      Throwable thrown = published.thrown();
      if (thrown != null) {
        throw new AssertionError(
            "publish threw %s for the first message".formatted(thrown), thrown);
      }
      List<Received> received = tck.await(r -> !r.isEmpty());
      check(
          received.size() == 1,
          "received() has %s messages after one was published, whose result was %s",
          received.size(),
          Published.words(published.result(0)));
      String id = PatientPublisher.ids(received).get(0);
      check(
          id.equals(Published.id(message)),
          "received() gives the attribute ID %s, not that of message 1. It is where the publisher puts the id",
          id);
      tck.clear();
      int left = tck.receive().size();
      check(left == 0, "received() still has %s messages after reset()", left);
    }
  }
}
