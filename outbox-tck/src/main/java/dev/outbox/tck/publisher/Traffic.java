package dev.outbox.tck.publisher;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.internal.Deadline;
import dev.outbox.tck.internal.InThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Messages that are appended at a steady rate, each of a key of its own, and published as by one
 * worker of a relay. What was appended during a call goes with the next one, and so does what was
 * not delivered. A call that takes long delays all of it.
 *
 * @param slow one of ten messages waited so long, or longer, from its append to its result
 * @param hung that publish did not return; null when it always did
 */
record Traffic(Duration slow, @Nullable String hung) {
  private static final int MESSAGES = 100;
  private static final int ONE_OF = 10;

  /** All are appended in this part of the publisher's time limit. */
  private static final int PART = 2;

  /** This part of the time limit, and at least so much, says nothing. */
  private static final int PART_TOLERATED = 20;

  private static final Duration LEAST_TOLERATED = Duration.ofMillis(100);

  /** So often it is looked whether one is slower than the other: once it may be the machine. */
  private static final int LOOKS = 3;

  /** Two publishers at the same time: what delays this process delays both. */
  record Compared(Traffic beside, Traffic without, Duration tolerated) {
    private static final int TIMES = 3;

    /** Whether it is much slower, and by more than what is tolerated. */
    boolean isSlower() {
      Duration much = without.slow.multipliedBy(TIMES).plus(tolerated);
      return beside.slow.compareTo(much) > 0;
    }

    @Nullable String hung() {
      return beside.hung != null ? beside.hung : without.hung;
    }
  }

  /**
   * Compares the test's publisher, with a message to a destination that hangs in each call, with
   * another that has none. It has met that destination before.
   */
  static Compared compare(PatientPublisher tck, PublisherFixture.DestinationHangs broker) {
    Duration part = tck.timeout().dividedBy(PART_TOLERATED);
    Duration tolerated = part.compareTo(LEAST_TOLERATED) > 0 ? part : LEAST_TOLERATED;
    MessagePublisher other = tck.create();
    Published ignored = tck.start(other, PublisherRun.WELL, tck.batch(tck.message("warm"))).await();
    for (int look = 1; ; look++) {
      String key = "hanging" + look + "-";
      List<StoredMessage> hanging =
          IntStream.range(0, MESSAGES)
              .mapToObj(i -> tck.stored(broker.toHanging(tck.message(key + i))))
              .toList();
      InThread<Traffic> without =
          new InThread<>(
              "publisher tck traffic", () -> flow(tck, other, PublisherRun.WELL, List.of()));
      Traffic beside = flow(tck, tck.publisher(), PublisherRun.BESIDE_HANGING, hanging);
      Compared compared = new Compared(beside, without.join(), tolerated);
      if (compared.hung() != null || !compared.isSlower() || look == LOOKS) {
        return compared;
      }
    }
  }

  /** A message that waits, and since when. */
  private record Waiting(StoredMessage message, long since) {}

  /**
   * Lets it flow until all have come, or patience is over.
   *
   * @param beside each call has one of them
   */
  private static Traffic flow(
      PatientPublisher tck, MessagePublisher to, String when, List<StoredMessage> beside) {
    Duration every = tck.timeout().dividedBy(PART * MESSAGES);
    List<Waiting> waiting = new ArrayList<>();
    List<Duration> waited = new ArrayList<>();
    Deadline deadline = new Deadline(tck.patience());
    long begin = System.nanoTime();
    int appended = 0;
    int calls = 0;
    while (waited.size() < MESSAGES) {
      long due = begin + appended * every.toNanos();
      while (appended < MESSAGES && due - System.nanoTime() <= 0) {
        waiting.add(new Waiting(tck.stored(tck.message("other" + appended)), due));
        appended++;
        due += every.toNanos();
      }
      if (waiting.isEmpty()) {
        deadline.pause(Duration.ofMillis(1));
        continue;
      }
      List<StoredMessage> messages = new ArrayList<>();
      if (!beside.isEmpty()) {
        messages.add(beside.get(calls++ % beside.size()));
      }
      int first = messages.size();
      waiting.forEach(one -> messages.add(one.message()));
      Published published = tck.start(to, when, messages).await();
      String wrong = published.hung() != null ? published.hung() : published.miscounted();
      long now = System.nanoTime();
      List<Waiting> rest = new ArrayList<>();
      for (int i = 0; i < waiting.size(); i++) {
        Waiting one = waiting.get(i);
        if (wrong == null && !published.delivered(first + i) && !deadline.isOver()) {
          rest.add(one);
        } else {
          waited.add(Duration.ofNanos(now - one.since()));
        }
      }
      if (wrong != null) {
        return new Traffic(Duration.ZERO, wrong);
      }
      waiting = rest;
    }
    List<Duration> slowest = waited.stream().sorted().toList();
    return new Traffic(slowest.get(MESSAGES - MESSAGES / ONE_OF), null);
  }
}
