package dev.outbox.dev.bench;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** Takes the pace of some messages, in tenths of them. Safe for use by many threads. */
final class Meter {
  static final int TENTHS = 10;

  /** So long without a message is not slow but stuck. */
  private static final Duration STUCK = Duration.ofMinutes(2);

  private final long messages;
  private final LongSupplier clock;
  private final AtomicLong done = new AtomicLong();
  private final AtomicLongArray ends = new AtomicLongArray(TENTHS);
  private final CountDownLatch end = new CountDownLatch(1);
  private volatile long begin;

  Meter(long messages) {
    this(messages, System::nanoTime);
  }

  Meter(long messages, LongSupplier clock) {
    if (messages < TENTHS) {
      throw new IllegalArgumentException(
          "%s messages, at least %s are needed".formatted(messages, TENTHS));
    }
    this.messages = messages;
    this.clock = clock;
  }

  void begin() {
    begin = clock.getAsLong();
  }

  void done(long count) {
    long after = done.addAndGet(count);
    long tenthsBefore = Math.min(TENTHS, (after - count) * TENTHS / messages);
    long tenths = Math.min(TENTHS, after * TENTHS / messages);
    if (tenths > tenthsBefore) {
      long now = clock.getAsLong();
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
            "%s of %s messages went through, then none for %s: %s"
                .formatted(now, messages, STUCK, trouble.get()));
      }
      before = now;
    }
  }

  /** How many went through, with what was under way when the time was over. */
  long total() {
    return done.get();
  }

  /** Messages a second, from the tenth {@code from}, the first being 0, to before {@code to}. */
  double rate(int from, int to) {
    long time = ends.get(to - 1) - (from == 0 ? begin : ends.get(from - 1));
    return messages * (to - from) * 1e9 / TENTHS / Math.max(1, time);
  }
}
