package dev.outbox.relay;

import dev.outbox.spi.store.KeepingStore.Keeper;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The threads of one relay: its workers, those in which its publisher is called, one that tidies
 * up, one that shows that the relay lives, and one that asks at the start whether the broker
 * answers. All are daemons, so that one that hangs does not keep the process alive.
 */
final class RelayThreads {
  static final Duration HOUSEKEEPING = Duration.ofMinutes(1);

  private static final Duration FIRST_HOLD_RETRY = Duration.ofMillis(50);
  private static final Duration LONGEST_HOLD_RETRY = Duration.ofSeconds(5);

  private final String name;
  private final Waiting waiting;
  private final ThreadPoolExecutor publishing;
  private final ScheduledExecutorService housekeeping;

  /** The workers, and the one that tidies up. */
  private final List<Thread> inStore = new CopyOnWriteArrayList<>();

  private volatile @Nullable Thread checking;
  private volatile @Nullable Thread holding;

  RelayThreads(String name, Waiting waiting) {
    this.name = name;
    this.waiting = waiting;
    publishing = (ThreadPoolExecutor) Executors.newCachedThreadPool(factory("-publish-"));
    housekeeping =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = daemon(task, name + "-housekeeping");
              inStore.add(thread);
              return thread;
            });
  }

  private ThreadFactory factory(String kind) {
    AtomicInteger number = new AtomicInteger();
    return task -> daemon(task, name + kind + number.getAndIncrement());
  }

  static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  /** Where the publisher is called; keeps no threads while there is nothing to publish. */
  ThreadPoolExecutor publishing() {
    return publishing;
  }

  void start(Worker worker) {
    Thread thread = daemon(worker::run, worker.name());
    inStore.add(thread);
    thread.start();
  }

  /** Until the workers have ended. */
  void start(Keeper keeper, RelayListener listener) {
    Backoff pauses = new Backoff(FIRST_HOLD_RETRY, LONGEST_HOLD_RETRY, RelayThreads::random);
    SupervisedLoop task =
        new SupervisedLoop(
            () -> keeper.hold(waiting::wake),
            e -> {
              if (!waiting.stopping()) {
                listener.on(new RelayEvent.StoreFailed(name, "hold", e));
              }
            });
    Thread thread =
        daemon(
            () -> {
              long begun = System.nanoTime();
              while (!waiting.stopping() && !task.again()) {
                if (System.nanoTime() - begun > LONGEST_HOLD_RETRY.toNanos()) {
                  pauses.reset();
                }
                LockSupport.parkNanos(pauses.next());
                begun = System.nanoTime();
              }
            },
            name + "-holding");
    holding = thread;
    thread.start();
  }

  private static double random() {
    return ThreadLocalRandom.current().nextDouble();
  }

  void start(SupervisedLoop.Task housekeep, RelayListener listener, Duration pause) {
    SupervisedLoop task =
        new SupervisedLoop(
            housekeep,
            e -> {
              if (!waiting.stopping()) { // which interrupts it
                listener.on(new RelayEvent.StoreFailed(name, "housekeep", e));
              }
            });
    var ignored =
        housekeeping.scheduleWithFixedDelay(
            task::again, 0, pause.toMillis(), TimeUnit.MILLISECONDS);
  }

  void start(BrokerCheck check, RelayListener listener) {
    String thread = name + "-check";
    SupervisedLoop task =
        new SupervisedLoop(
            check::run,
            e -> {
              if (!waiting.stopping()) {
                listener.on(
                    new RelayEvent.PublisherBroken(
                        thread, "threw when asked for its broker: " + e, e));
              }
            });
    Thread asking =
        daemon(
            () -> {
              boolean ignored = task.again();
            },
            thread);
    checking = asking;
    asking.start();
  }

  /**
   * Waits for all threads except the calling one, for as long as there is time to stop, and then
   * interrupts those that are left. So none of them uses a connection when a pool is closed next:
   * one that is given back while HikariCP closes may stay open.
   *
   * @return how many are left
   */
  int stop() {
    housekeeping.shutdownNow();
    Thread asking = checking;
    if (asking != null) {
      asking.interrupt();
    }
    boolean interrupted = false;
    try {
      join();
    } catch (InterruptedException e) {
      interrupted = true;
    }
    int left =
        publishing.getActiveCount() + (int) inStore.stream().filter(RelayThreads::runs).count();
    inStore.forEach(Thread::interrupt);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return left;
  }

  private void join() throws InterruptedException {
    try {
      for (Thread thread : inStore) {
        long left = TimeUnit.NANOSECONDS.toMillis(waiting.leftToStop());
        if (left > 0 && runs(thread)) {
          thread.join(left);
        }
      }
    } finally {
      publishing.shutdownNow();
    }
    boolean ignored = publishing.awaitTermination(waiting.leftToStop(), TimeUnit.NANOSECONDS);
    Thread last = holding;
    if (last != null) {
      last.interrupt();
      last.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(waiting.leftToStop())));
    }
  }

  /** Whether none of them has ended. */
  boolean alive() {
    return inStore.stream().allMatch(Thread::isAlive);
  }

  private static boolean runs(Thread thread) {
    return thread.isAlive() && thread != Thread.currentThread();
  }
}
