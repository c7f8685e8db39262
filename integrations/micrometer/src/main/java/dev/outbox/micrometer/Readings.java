package dev.outbox.micrometer;

import dev.outbox.Texts;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads what waits in a store now and then, in a thread of its own. */
final class Readings implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Readings.class);

  /** A reading that is older than so many intervals is no longer shown: the store hangs. */
  private static final int LASTS_INTERVALS = 4;

  private static final long MOST_TO_CLOSE_MILLIS = 900;

  private final StatisticsStore store;
  private final int cap;
  private final Duration interval;
  private final LongSupplier clock;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(Readings::daemon);
  private volatile @Nullable Statistics last;
  private volatile long goodAt;
  private boolean started;
  private boolean failed;

  Readings(StatisticsStore store, int cap, Duration interval, LongSupplier clock) {
    this.store = store;
    this.cap = cap;
    this.interval = interval;
    this.clock = clock;
    goodAt = clock.getAsLong();
  }

  private static Thread daemon(Runnable task) {
    Thread made = new Thread(task, "outbox-metrics");
    made.setDaemon(true);
    return made;
  }

  /** Begins to read; from the second call on it does nothing. */
  synchronized void start() {
    if (thread.isShutdown()) {
      throw new IllegalStateException("these metrics are closed: make new ones");
    }
    if (!started) {
      started = true;
      goodAt = clock.getAsLong();
      var ignored =
          thread.scheduleWithFixedDelay(this::read, 0, interval.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  /**
   * Reads in a second, too: a relay has begun, which the store shows only when that has a session.
   */
  synchronized void readSoon() {
    if (started && !thread.isShutdown()) {
      var ignored = thread.schedule(this::read, 1, TimeUnit.SECONDS);
    }
  }

  /** Throws nothing, or it would not be called again. */
  private void read() {
    try {
      last = store.statistics(cap);
      goodAt = clock.getAsLong();
      if (failed) {
        failed = false;
        log.info("The outbox can be read for its metrics again");
      }
    } catch (Throwable e) {
      last = null;
      if (!failed && !thread.isShutdown()) {
        failed = true;
        log.warn(
            "The outbox cannot be read for its metrics, which are NaN meanwhile: {}",
            Texts.clean(String.valueOf(e)));
      }
    }
  }

  /** Of the last reading; NaN when that failed, or is old. */
  double value(ToDoubleFunction<Statistics> number) {
    Statistics statistics = last();
    return statistics == null ? Double.NaN : number.applyAsDouble(statistics);
  }

  /** The last reading; null when that failed, or is old. */
  @Nullable Statistics last() {
    boolean old = age() > LASTS_INTERVALS * interval.toMillis() / 1000.0;
    return old ? null : last;
  }

  /** Seconds since the last good reading, or, before the first, since it was made. */
  double age() {
    return Math.max(0, clock.getAsLong() - goodAt) / 1e9;
  }

  /** A JDBC driver may not heed the interrupt; the thread is a daemon. */
  @Override
  public void close() {
    synchronized (this) {
      thread.shutdownNow();
    }
    try {
      boolean ignored = thread.awaitTermination(MOST_TO_CLOSE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
