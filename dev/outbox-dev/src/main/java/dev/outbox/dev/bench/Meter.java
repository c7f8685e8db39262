package dev.outbox.dev.bench;

import dev.outbox.dev.common.Load;
import dev.outbox.dev.database.JdbcPlace;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RelayEvent;
import dev.outbox.relay.RelayListener;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** Takes the pace of some messages, in tenths of them. Safe for use by many threads. */
final class Meter {
  static final int TENTHS = 10;

  /** So long without a message is not slow but stuck. */
  private static final Duration STUCK = Duration.ofMinutes(2);

  private static final String NO_TROUBLE = "no error was reported";

  private static final Duration NOTHING_LEFT = Duration.ofNanos(200_000);

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

  /**
   * Of a relay, as users run it, until so many messages are delivered; then it is closed. The time
   * begins before it is built and ends when the last message is known to be settled; that a worker
   * of it checks the schema and starts is included.
   *
   * @throws IllegalStateException when the store failed or a lease was lost on the way: such a run
   *     says nothing about speed
   */
  static Meter ofRelay(
      JdbcOutboxStore store,
      long messages,
      MessagePublisher publisher,
      UnaryOperator<Relay.Builder> settings)
      throws InterruptedException {
    Meter meter = new Meter(messages);
    AtomicReference<String> trouble = new AtomicReference<>(NO_TROUBLE);
    RelayListener watch =
        event -> {
          if (event instanceof RelayEvent.Delivered) {
            meter.done(1);
          } else if (event instanceof RelayEvent.StoreFailed
              || event instanceof RelayEvent.LeaseLost
              || event instanceof RelayEvent.Abandoned
              || event instanceof RelayEvent.PublisherBroken) {
            trouble.compareAndSet(NO_TROUBLE, event.toString());
          }
        };
    meter.begin();
    try (Relay relay = settings.apply(Relay.builder(store, publisher).listener(watch)).build()) {
      relay.start();
      meter.await(() -> "%s; %s".formatted(trouble, store.statistics(StatisticsStore.DEFAULT_CAP)));
    }
    if (!NO_TROUBLE.equals(trouble.get())) {
      throw new IllegalStateException("a relay was disturbed: " + trouble);
    }
    return meter;
  }

  /** Of so many workers of the limit, until so many messages are deleted. */
  static Meter ofLimit(JdbcPlace place, int workers, long messages) throws InterruptedException {
    Meter meter = new Meter(messages);
    List<Limit> loops = new ArrayList<>();
    try {
      for (int i = 0; i < workers; i++) {
        loops.add(new Limit(place, Relay.Builder.DEFAULT_BATCH_SIZE));
      }
      try (Load load = new Load("the limit", loops.stream().map(l -> client(l, meter)).toList())) {
        meter.begin();
        load.allow(Long.MAX_VALUE, Integer.MAX_VALUE);
        while (!meter.isOver()) {
          boolean endless = load.done(); // it fails where one of them does
          Thread.sleep(1);
        }
      }
    } finally {
      loops.forEach(Limit::close);
    }
    return meter;
  }

  private static Load.Client client(Limit loop, Meter meter) {
    return () -> {
      int count = meter.isOver() ? 0 : loop.batch();
      meter.done(count);
      if (count == 0) {
        LockSupport.parkNanos(NOTHING_LEFT.toNanos()); // others have the rest
      }
    };
  }
}
