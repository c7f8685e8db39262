package dev.outbox.tck.publisher;

import static org.assertj.core.api.Assertions.fail;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.InThread;
import dev.outbox.tck.internal.Patience.OtherRuleBroken;
import dev.outbox.tck.internal.Place;
import dev.outbox.tck.internal.Sentence;
import dev.outbox.tck.publisher.PublisherFrame.Outage;
import dev.outbox.tck.publisher.PublisherTck.BrokerCrashes;
import dev.outbox.tck.publisher.PublisherTck.BrokerHangs;
import dev.outbox.tck.publisher.PublisherTck.BrokerRejects;
import dev.outbox.tck.publisher.PublisherTck.BrokerStops;
import dev.outbox.tck.publisher.PublisherTck.DestinationHangs;
import dev.outbox.tck.publisher.PublisherTck.DestinationMissing;
import dev.outbox.tck.publisher.PublisherTck.DestinationNotDurable;
import dev.outbox.tck.publisher.PublisherTck.Received;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.opentest4j.TestAbortedException;

/** Tests of what a publisher answers, and in which order messages arrive. */
abstract class PublisherTests {
  /** {@link PublisherFrame} sets it before each test. */
  PatientPublisher tck;

  @SuppressWarnings("NullAway.Init")
  PublisherTests() {}

  /** What the publisher did while its broker was stopped in good order. */
  private Outage whileStopped() {
    BrokerStops broker = tck.fixture(BrokerStops.class);
    return outage(PublisherFrame.STOPPED, broker::stopBroker, broker::startBroker);
  }

  /** What the publisher did while its broker hung. */
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

  /** The same with one to a missing destination. */
  Beside besideMissing() {
    OutboxMessage.Builder bad = tck.fixture(DestinationMissing.class).toMissing(tck.message("bad"));
    return beside("beside a message to a missing destination", bad, List.of("good", "bad"));
  }

  /** The same with one to a destination that hangs. */
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

  /** P1. */
  @Rule("P1")
  abstract static class ResultTests extends PublisherTests {
    private static final int MANY = 300;
    private static final int WORKERS = 4;
    private static final int CALLS = 10;

    private static void checkNotThrown(Published published) {
      Throwable thrown = published.thrown();
      if (thrown != null) {
        throw new AssertionError(
            "publish threw %s for messages that nothing is wrong with".formatted(thrown), thrown);
      }
    }

    @Sentence("one result a message, and what is delivered is at the broker by then")
    void delivered() {
      Published published = tck.publish(tck.many(MANY, "k", 40)).inTime();
      checkNotThrown(published);
      check(published.notThere(PatientPublisher.ids(tck.receive())));
      checkDelivered(published);
    }

    @Sentence("calls of several threads at once have each their own results")
    void workersAtOnce() {
      List<PatientPublisher.Publishing> running = new ArrayList<>();
      List<Published> published = new ArrayList<>();
      for (int call = 0; call < CALLS; call++) {
        for (int worker = 0; worker < WORKERS; worker++) {
          running.add(
              tck.start(
                  tck.publisher(),
                  "while other threads called publish too",
                  tck.many(10 + 5 * worker, "w" + worker + "-", 40)));
        }
        running.forEach(publishing -> published.add(publishing.await()));
        running.clear();
      }
      List<String> arrived = PatientPublisher.ids(tck.receive());
      for (Published one : published) {
        checkNotThrown(one.inTime());
        check(one.notThere(arrived));
      }
    }

    @Sentence("a call's results stay what they were when the next call is made")
    void resultsStay() {
      BrokerRejects broker = tck.fixture(BrokerRejects.class);
      tck.publish(PublisherFrame.BESIDE_REJECTED, besideOne(broker)).inTime();
      List<StoredMessage> two = tck.batch(tck.message("a"), tck.message("b"));
      List<Result> first = tck.start(tck.publisher(), PublisherFrame.WELL, two).given();
      List<Result> before = List.copyOf(first);
      tck.publish(PublisherFrame.BESIDE_REJECTED, besideOne(broker));
      check(
          first.equals(before),
          "the results of a call were %s, and %s after the next call: each call returns a list of its own",
          before,
          first);
    }

    private List<StoredMessage> besideOne(BrokerRejects broker) {
      return tck.batch(broker.rejected(tck.message("bad")), tck.message("good"));
    }

    @Sentence("each has its own result, where some are refused, or have no destination, anywhere")
    void resultsBesideBad() {
      eachBeside(
          beside -> {
            Published published = beside.published().inTime();
            check(published.notThere(beside.arrived()));
            check(published.blamed("good", beside.arrived()));
          });
    }

    @Sentence("what a destination took and did not make durable is not delivered")
    void notDurable() {
      DestinationNotDurable broker = tck.fixture(DestinationNotDurable.class);
      Published published =
          tck.publish(
              "to a destination that cannot make it durable",
              tck.batch(broker.toNotDurable(tck.message("k"))));
      check(published.inTime().miscounted());
      check(
          !published.delivered(0),
          "message 1 was reported delivered by a destination that cannot make it durable now: wait for the acknowledgement of all replicas that there have to be");
    }

    @Sentence("nothing is delivered while the broker is away")
    void notDeliveredInAnOutage() {
      eachOutage(outage -> check(outage.during().inTime().notThere(List.of())));
    }
  }

  /** P2 and what follows from it. */
  @Rule("P2")
  abstract static class OrderTests extends PublisherTests {
    @Sentence("messages of a key arrive in their order, call after call")
    void inOrder() {
      List<StoredMessage> all = new ArrayList<>();
      for (int call = 0; call < 5; call++) {
        List<StoredMessage> messages = tck.many(60, "k", 7);
        Published.because("P1", tck.publishUntilDelivered(messages));
        all.addAll(messages);
      }
      List<Received> received = tck.await(r -> r.size() >= all.size());
      check(outOfOrder(all, PatientPublisher.ids(received)));
    }

    @Sentence("after one that is rejected or has no destination no later one of its key arrives")
    void stops() {
      eachBeside(
          beside -> check(beside.published().honest(beside.arrived()).passedBy(beside.arrived())));
    }

    @Sentence("messages that waited while the broker was away arrive in their order")
    void orderAfterAnOutage() {
      eachOutage(
          outage -> {
            Published during = outage.during().honest(List.of());
            Published.because("P3", outage.late());
            check(outOfOrder(during.messages(), outage.arrived()));
          });
    }

    @Rule({"P1", "P2"})
    @Sentence("when the broker crashes during a call, nothing delivered is lost, and keys in order")
    void crashDuringCall() {
      BrokerCrashes broker = tck.fixture(BrokerCrashes.class);
      duringCall("while the broker crashed", broker::killBroker, broker::startBroker);
    }

    @Rule({"P1", "P2"})
    @Sentence("when the broker hangs during a call, nothing delivered is lost, and keys in order")
    void hangDuringCall() {
      BrokerHangs broker = tck.fixture(BrokerHangs.class);
      duringCall("while the broker began to hang", broker::pauseBroker, broker::resumeBroker);
    }

    private void duringCall(String when, Runnable begin, Runnable end) {
      AtomicBoolean begun = new AtomicBoolean();
      List<StoredMessage> first = tck.many(500, "k", 23);
      InThread<List<Published>> publishing =
          new InThread<>("publisher tck", () -> publishUntil(begun, when, first));
      List<Published> calls;
      try {
        begin.run();
      } finally {
        begun.set(true);
        calls = publishing.join();
      }
      end.run();
      for (Published call : calls) {
        check("P1", call.inTime().miscounted());
      }
      Published.because("P3", tck.publishUntilDelivered(last(calls).undelivered()));
      List<StoredMessage> all = calls.stream().flatMap(call -> call.messages().stream()).toList();
      List<String> arrived = PatientPublisher.ids(tck.receive());
      for (Published call : calls) {
        check("P1", call.notThere(arrived));
      }
      check(outOfOrder(all, arrived));
    }

    /** Call after call, until one has not delivered all. */
    private List<Published> publishUntil(
        AtomicBoolean begun, String when, List<StoredMessage> first) {
      List<Published> calls = new ArrayList<>();
      List<StoredMessage> next = first;
      do {
        calls.add(tck.publish(when, next));
        next = tck.many(500, "k", 23);
      } while (!begun.get() && last(calls).undelivered().isEmpty());
      return calls;
    }

    private static Published last(List<Published> calls) {
      return calls.get(calls.size() - 1);
    }

    /** That first deliveries of a key are out of order. */
    private static @Nullable String outOfOrder(List<StoredMessage> sent, List<String> arrived) {
      Map<String, Set<String>> keys = new LinkedHashMap<>();
      for (StoredMessage message : sent) {
        keys.computeIfAbsent(message.key(), k -> new LinkedHashSet<>()).add(Published.id(message));
      }
      for (Map.Entry<String, Set<String>> key : keys.entrySet()) {
        List<String> expected = List.copyOf(key.getValue());
        List<String> came = arrived.stream().distinct().filter(key.getValue()::contains).toList();
        if (!came.equals(expected)) {
          return "the messages of key \"%s\" came %s instead of %s"
              .formatted(key.getKey(), words(came, sent), words(expected, sent));
        }
      }
      return null;
    }

    private static String words(List<String> some, List<StoredMessage> sent) {
      List<String> ids = sent.stream().map(Published::id).toList();
      return some.isEmpty()
          ? "not at all"
          : some.stream().map(id -> "" + (ids.indexOf(id) + 1)).collect(Collectors.joining(", "));
    }
  }
}
