package dev.outbox.dev.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Supplier;

/** Takes the pace of some messages. Safe for use by many threads. */
final class Meter {

  /** So long without a message is not slow but stuck. */
  private static final Duration STUCK = Duration.ofMinutes(2);

  private final long messages;
  private final AtomicLong done = new AtomicLong();
  private final AtomicLongArray ends = new AtomicLongArray(Pace.TENTHS);
  private final CountDownLatch end = new CountDownLatch(1);
  private volatile long begin;

  Meter(long messages) {
    if (messages < Pace.TENTHS) {
      throw new IllegalArgumentException(
          "%d messages, at least %d are needed".formatted(messages, Pace.TENTHS));
    }
    this.messages = messages;
  }

  void begin() {
    begin = System.nanoTime();
  }

  void done(long count) {
    long after = done.addAndGet(count);
    long tenthsBefore = Math.min(Pace.TENTHS, (after - count) * Pace.TENTHS / messages);
    long tenths = Math.min(Pace.TENTHS, after * Pace.TENTHS / messages);
    if (tenths > tenthsBefore) {
      long now = System.nanoTime();
      for (int i = (int) tenthsBefore; i < tenths; i++) {
        ends.set(i, now);
      }
    }
    if (after >= messages) {
      end.countDown();
    }
  }

  boolean isOver() {
    return end.getCount() == 0;
  }

  /**
   * Waits until all are done.
   *
   * @param trouble what is known of a reason when it gets stuck
   */
  void await(Supplier<String> trouble) throws InterruptedException {
    long before = -1;
    while (!end.await(STUCK.toMillis(), TimeUnit.MILLISECONDS)) {
      long now = done.get();
      if (now == before) {
        throw new IllegalStateException(
            "%d of %d messages went through, then none for %s: %s"
                .formatted(now, messages, STUCK, trouble.get()));
      }
      before = now;
    }
  }

  /** To be called when all is done and nothing is under way any more. */
  Pace pace() {
    List<Long> nanos = new ArrayList<>();
    for (int i = 0; i < Pace.TENTHS; i++) {
      nanos.add(ends.get(i) - (i == 0 ? begin : ends.get(i - 1)));
    }
    return new Pace(messages, done.get(), nanos);
  }
}
