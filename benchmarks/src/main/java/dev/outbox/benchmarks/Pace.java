package dev.outbox.benchmarks;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Supplier;

/** How fast some messages went, as a whole and in tenths. Safe for use by many threads. */
final class Pace {
  static final int TENTHS = 10;

  /** So long without a message is not slow but stuck. */
  private static final Duration STUCK = Duration.ofMinutes(2);

  private final long messages;
  private final AtomicLong done = new AtomicLong();
  private final AtomicLongArray ends = new AtomicLongArray(TENTHS);
  private final CountDownLatch end = new CountDownLatch(1);
  private volatile long begin;

  Pace(long messages) {
    if (messages < TENTHS) {
      throw new IllegalArgumentException(
          "%d messages, at least %d are needed".formatted(messages, TENTHS));
    }
    this.messages = messages;
  }

  long messages() {
    return messages;
  }

  void begin() {
    begin = System.nanoTime();
  }

  void done(long count) {
    long after = done.addAndGet(count);
    long tenthsBefore = Math.min(TENTHS, (after - count) * TENTHS / messages);
    long tenths = Math.min(TENTHS, after * TENTHS / messages);
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

  /** Messages a second. */
  double rate() {
    return messages * 1e9 / (ends.get(TENTHS - 1) - begin);
  }

  /**
   * Messages a second in one part of them.
   *
   * @param from the first tenth, from 0
   * @param to the one after the last, up to {@value #TENTHS}
   */
  double rate(int from, int to) {
    long start = from == 0 ? begin : ends.get(from - 1);
    return messages * (to - from) * 1e9 / TENTHS / Math.max(1, ends.get(to - 1) - start);
  }
}
