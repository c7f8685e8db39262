package dev.outbox.relay;

import dev.outbox.publisher.core.BackgroundTasks;
import dev.outbox.spi.store.KeepingStore.Keeper;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
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
  private final RelayListener listener;
  private final ThreadPoolExecutor publishing;
  private final ScheduledExecutorService housekeeping;

  /** The workers, and the one that tidies up. */
  private final List<Thread> inStore = new CopyOnWriteArrayList<>();

  private volatile @Nullable Thread tidying;
  private volatile @Nullable Thread checking;
  private volatile @Nullable Thread holding;

  RelayThreads(String name, Waiting waiting, RelayListener listener) {
    this.name = name;
    this.waiting = waiting;
    this.listener = listener;
    publishing = pool(name + "-publish-");
    housekeeping =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = BackgroundTasks.daemon(name + "-housekeeping", task);
              inStore.add(thread);
              tidying = thread;
              return thread;
            });
  }

  /** Daemons, as many as are needed; their names are numbered. */
  static ThreadPoolExecutor pool(String names) {
    AtomicInteger number = new AtomicInteger();
    return (ThreadPoolExecutor)
        Executors.newCachedThreadPool(
            task -> BackgroundTasks.daemon(names + number.getAndIncrement(), task));
  }

  /** Where the publisher is called; keeps no threads while there is nothing to publish. */
  ThreadPoolExecutor publishing() {
    return publishing;
  }

  void start(Worker worker) {
    inStore.add(started(worker.name(), worker::run));
  }

  /** Until the workers have ended. */
  void start(Keeper keeper) {
    Backoff pauses = new Backoff(FIRST_HOLD_RETRY, LONGEST_HOLD_RETRY);
    SupervisedLoop task =
        supervised(
            () -> keeper.hold(waiting::announcedByOthers),
            e -> new RelayEvent.StoreFailed(name, "hold", e));
    holding =
        started(
            name + "-holding",
            () -> {
              long begun = System.nanoTime();
              while (!waiting.stopping() && !task.again()) {
                if (System.nanoTime() - begun > LONGEST_HOLD_RETRY.toNanos()) {
                  pauses.reset();
                }
                LockSupport.parkNanos(pauses.next());
                begun = System.nanoTime();
              }
            });
  }

  void start(SupervisedLoop.Task housekeep, Duration pause) {
    SupervisedLoop task =
        supervised(housekeep, e -> new RelayEvent.StoreFailed(name, "housekeep", e));
    var ignored =
        housekeeping.scheduleWithFixedDelay(
            task::again, 0, pause.toMillis(), TimeUnit.MILLISECONDS);
  }

  void start(BrokerCheck check) {
    String thread = name + "-check";
    SupervisedLoop task =
        supervised(
            check::run,
            e ->
                new RelayEvent.PublisherBroken(thread, "threw when asked for its broker: " + e, e));
    checking = started(thread, task::again);
  }

  /** What it throws while the relay stops, which interrupts it, is no news. */
  private SupervisedLoop supervised(
      SupervisedLoop.Task task, Function<RuntimeException, RelayEvent> event) {
    return new SupervisedLoop(
        task,
        e -> {
          if (!waiting.stopping()) {
            listener.on(event.apply(e));
          }
        });
  }

  private static Thread started(String name, Runnable task) {
    Thread thread = BackgroundTasks.daemon(name, task);
    thread.start();
    return thread;
  }

  /**
   * Waits for all threads except the calling one, for as long as there is time to stop, and then
   * interrupts those that are left. So none of them uses a connection when a pool is closed next:
   * one that is given back while HikariCP closes may stay open.
   *
   * @return how many are left
   */
  int stop() {
    housekeeping.shutdown();
    interrupt(tidying);
    interrupt(checking);
    boolean interrupted = false;
    try {
      join();
    } catch (InterruptedException e) {
      interrupted = true;
    }
    int left =
        publishing.getActiveCount() + (int) inStore.stream().filter(RelayThreads::runs).count();
    inStore.forEach(RelayThreads::interrupt);
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
    } finally { // also where an interrupt has cut the wait short
      publishing.shutdownNow();
      interrupt(holding);
    }
    boolean ignored = publishing.awaitTermination(waiting.leftToStop(), TimeUnit.NANOSECONDS);
    Thread last = holding;
    if (last != null && runs(last)) {
      last.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(waiting.leftToStop())));
    }
  }

  /** Not the calling thread, in which a listener closes the relay: it would wait for nobody. */
  private static void interrupt(@Nullable Thread thread) {
    if (thread != null && runs(thread)) {
      thread.interrupt();
    }
  }

  boolean alive() {
    return inStore.stream().allMatch(Thread::isAlive);
  }

  private static boolean runs(Thread thread) {
    return thread.isAlive() && thread != Thread.currentThread();
  }
}
