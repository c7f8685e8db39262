package dev.outbox.tck.publisher;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.InThread;
import dev.outbox.tck.internal.Patience;
import dev.outbox.tck.internal.Sentence;
import dev.outbox.tck.publisher.PatientPublisher.Asked;
import dev.outbox.tck.publisher.PublisherTck.DestinationHangs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** P3, P5 and P6: what a publisher says and does when something is wrong. */
@Rule("P3")
abstract class PublisherTroubleTests extends PublisherTests {
  /** So much longer says nothing. */
  private static final Duration TOLERATED = Duration.ofMillis(200);

  // ---- P3

  @Sentence("a message that the broker never takes is rejected, and the others are delivered")
  void rejected() {
    Published published = honest(besideRejected());
    if (!(published.result(1) instanceof Result.Rejected)) {
      fail(
          published.thrown() != null
              ? "publish threw %s for message 2, which the broker never takes: the relay tries it ten times before it is a dead letter. Return its result, rejected"
                  .formatted(published.thrown())
              : "message 2 was %s, and the broker never takes it: it is rejected, or it is tried again and again"
                  .formatted(Published.words(published.result(1))));
    }
    checkBeside(published, "the broker never takes");
  }

  @Sentence("a missing destination is unavailable by name, and the others are delivered")
  void missing() {
    for (int call = 0; call < 3; call++) {
      Published published = honest(besideMissing());
      check(notUnavailable(published, 1, "for a missing destination"));
      check(
          published.result(1) instanceof Result.Unavailable u && u.destination() != null,
          "message 2 was unavailable without a destination, and only its destination is missing: all others wait too. Name it");
      checkBeside(published, "went to a missing destination");
    }
  }

  /** Skips the test when the results tell nothing about P3. */
  private static Published honest(Beside beside) {
    Published published = beside.published().honest(beside.arrived());
    Published.because("P1", published.blamed("good", beside.arrived()));
    return published;
  }

  private static void checkBeside(Published published, String what) {
    for (int i : new int[] {0, 2, 4}) {
      check(
          published.delivered(i),
          "message %s of key \"good\" was %s, because message 2 %s: one message or destination must not stop the others",
          i + 1,
          Published.words(published.result(i)),
          what);
    }
  }

  @Sentence("a destination that hangs is unavailable, and slows no other")
  void hangingDestination() {
    DestinationHangs broker = tck.fixture(DestinationHangs.class);
    Published first = honest(besideHanging(broker)); // it may take the time to find out
    check(notUnavailable(first, 1, "for a destination that hangs"));
    checkBeside(first, "went to a destination that hangs");
    Duration beside =
        median(tck.publisher(), i -> tck.batch(broker.toHanging(tck.message("hanging" + i))));
    Duration without = median(tck.create(), i -> List.of());
    Duration part = tck.timeout().dividedBy(20);
    Duration tolerated = part.compareTo(TOLERATED) > 0 ? part : TOLERATED;
    check(
        beside.compareTo(without.multipliedBy(3).plus(tolerated)) <= 0,
        "a message beside one to a destination that hangs waited %s for its result, and %s without that: a destination that was silent once must not keep a call. Return what is decided, and call the rest unavailable",
        Patience.seconds(beside),
        Patience.seconds(without));
  }

  @Rule("P5")
  @Sentence("close returns in time after a call with a destination that hangs, and throws nothing")
  void closesAfterHanging() {
    Beside ignored = besideHanging(tck.fixture(DestinationHangs.class));
    check(tck.close(tck.publisher()));
  }

  /** The middle one of three times until a message was delivered beside others. */
  private Duration median(MessagePublisher to, IntFunction<List<StoredMessage>> others) {
    List<Duration> times = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      List<StoredMessage> messages = new ArrayList<>(others.apply(i));
      messages.add(tck.stored(tck.message("good" + i)));
      long begin = System.nanoTime();
      Duration time;
      Published published;
      do {
        published = tck.start(to, PublisherFrame.BESIDE_HANGING, messages).await().counted();
        time = Duration.ofNanos(System.nanoTime() - begin);
      } while (!published.delivered(messages.size() - 1) && time.compareTo(tck.patience()) < 0);
      times.add(time);
    }
    return times.stream().sorted().toList().get(1);
  }

  @Sentence("while the broker is away all is unavailable, and afterwards it is delivered")
  void outage() {
    eachOutage(
        outage -> {
          Published during = outage.during();
          if (during.thrown() == null) {
            during.honest(List.of());
          }
          for (int i = 0; i < during.messages().size(); i++) {
            check(notUnavailable(during, i, during.when()));
          }
          check(outage.late() == null, "%s, once the broker was back", outage.late());
          if (during.when().equals(PublisherFrame.STOPPED)) {
            checkNoDestination(during);
          }
        });
  }

  private static void checkNoDestination(Published during) {
    Set<String> keys = new HashSet<>();
    for (int i = 0; i < during.messages().size(); i++) {
      String destination =
          during.result(i) instanceof Result.Unavailable u ? u.destination() : null;
      // One behind another of its key may say that it waits for that one.
      check(
          !keys.add(during.messages().get(i).key()) || destination == null,
          "message %s was unavailable at %s while the broker was stopped: name no destination when the broker as a whole is away, so that the relay pauses",
          i + 1,
          destination);
    }
  }

  private static @Nullable String notUnavailable(Published published, int i, String when) {
    Result result = published.result(i);
    if (published.thrown() != null) {
      return "publish threw %s, %s: the relay then tries the messages one at a time, and what throws again counts as failed, ten times to a dead letter. Return unavailable"
          .formatted(published.thrown(), when);
    } else if (result instanceof Result.Rejected) {
      return "message %s was %s, %s: it becomes a dead letter at once. An outage is unavailable"
          .formatted(i + 1, Published.words(result), when);
    } else if (result instanceof Result.Failed) {
      return "message %s %s, %s: that counts, and after ten times it becomes a dead letter. An outage is unavailable"
          .formatted(i + 1, Published.words(result), when);
    }
    return result instanceof Result.Unavailable
        ? null
        : "message %s was delivered, %s: is the fixture wrong?".formatted(i + 1, when);
  }

  @Sentence("what was delivered before is delivered again, as after a crash of the relay")
  void repeated() {
    List<StoredMessage> messages = tck.batch(tck.message("a"), tck.message("b"), tck.message("a"));
    Published.because("P1", tck.publishUntilDelivered(messages));
    Published again = tck.publish(messages).honest(PatientPublisher.ids(tck.receive()));
    checkDelivered(
        again,
        "message %1$s was %3$s when it was published again: a relay that stopped before its settle repeats what was delivered, and must be told so. What the broker knows already is delivered");
  }

  // ---- P5

  @Rule("P5")
  @Sentence("publish returns in time when a destination is missing")
  void missingInTime() {
    check(besideMissing().published().hung());
  }

  @Rule("P5")
  @Sentence("publish returns in time while the broker is away")
  void outageInTime() {
    eachOutage(outage -> check(outage.hung()));
  }

  @Rule({"P1", "P5"})
  @Sentence(
      "publish returns in time when closed meanwhile, and calls nothing delivered that is not")
  void closedMeanwhile() throws InterruptedException {
    MessagePublisher closing = tck.create();
    AtomicBoolean closed = new AtomicBoolean();
    CountDownLatch called = new CountDownLatch(1);
    InThread<Published> last =
        new InThread<>(
            "publisher tck",
            () -> {
              Published published;
              do {
                published =
                    tck.start(closing, PublisherFrame.CLOSED, tck.batch(tck.message("k"))).await();
                called.countDown();
              } while (!closed.get() && published.hung() == null);
              return published;
            });
    called.await();
    String wrong = tck.close(closing);
    closed.set(true);
    // No call of those above need have met the close; one of a worker that was given up comes late.
    Published late = tck.start(closing, PublisherFrame.CLOSED, tck.batch(tck.message("k"))).await();
    Published met = last.join();
    List<String> arrived = PatientPublisher.ids(tck.receive());
    for (Published published : List.of(met, late)) {
      check("P5", published.hung());
      check("P1", published.notThere(arrived));
    }
    check("P5", wrong == null ? null : wrong + " while publish was called");
  }

  @Rule("P5")
  @Sentence("close returns in time while the broker is away")
  void closesInAnOutage() {
    eachOutage(
        outage ->
            check(
                outage.closing() == null,
                "%s %s: give it a time limit. What it drops is published again",
                outage.closing(),
                outage.during().when()));
  }

  // ---- P6

  @Rule("P6")
  @Sentence("a broker that answers is reached, and the address is said")
  void reachable() {
    assertThat(tck.address()).as("the broker's address").isNotBlank();
    Asked asked = tck.ask(tck.patience());
    check(asked.wrong());
    assertThat(asked.trouble()).as("why it cannot be reached").isEmpty();
  }

  @Rule("P6")
  @Sentence(
      "a broker that is away cannot be reached, which is said in time, and is once it is back")
  void unreachable() {
    tck.address();
    eachOutage(
        outage -> {
          Asked asked = requireNonNull(outage.asked());
          String when = outage.during().when();
          check(asked.wrong() == null, "%s %s", when, asked.wrong());
          check(
              asked.trouble().isPresent(), "unreachable() said that the broker answers, %s", when);
          Asked back = requireNonNull(outage.back());
          check(back.wrong() == null, "%s once the broker was back", back.wrong());
          assertThat(back.trouble())
              .as("why the broker cannot be reached once it is back")
              .isEmpty();
        });
  }
}
