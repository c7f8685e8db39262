package dev.outbox.tck.internal;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

/**
 * How long a run of a suite waits, and calls that may not return. Another thread does what the
 * test's own thread calls, and is given up when it does not come back. A call, and all that is
 * called in it, is done by one thread, because transactions may be bound to it. Other threads of a
 * test call by themselves: whoever waits for them has patience too.
 *
 * <p>The call is given up and not the test, as by a time limit of JUnit: a test whose thread hung
 * could not end the transaction that the call waits for, nor make whole what it has damaged, and
 * whatever runs next would hang too.
 *
 * <p>After waits in vain there is less patience, so that a run ends soon however wrong a store is.
 * But it never falls below some times the longest wait that was not in vain, so that a slow
 * database loses nothing by one failure.
 */
public final class Patience {
  private static final Duration AFTER_ONE = Duration.ofSeconds(5);
  private static final Duration AFTER_MORE = Duration.ofSeconds(2);
  private static final int TIMES_THE_LONGEST = 5;
  private static final Duration PAUSE = Duration.ofMillis(5);
  private static final Duration FOR_WHAT_WAS_GIVEN_UP = Duration.ofSeconds(1);

  /** A call that goes on, and the call in which it was made. */
  private record Running(String what, String cause, @Nullable Running outer) {}

  /** The thread that can be given up. */
  private static final class Worker {
    final ThreadPoolExecutor executor =
        new ThreadPoolExecutor(
            1, 1, 5, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), this::daemon);
    volatile @Nullable Thread thread;
    volatile @Nullable Running running;

    Worker() {
      executor.allowCoreThreadTimeOut(true);
    }

    private Thread daemon(Runnable task) {
      Thread created = new Thread(task, "tck");
      created.setDaemon(true);
      thread = created;
      return created;
    }
  }

  private volatile Worker worker = new Worker();
  private volatile @Nullable Thread owner;
  private @Nullable Worker givenUp;
  private volatile @Nullable Throwable thrown;
  private volatile String thrownBy = "";
  private int inVain;
  private long longest;

  /** The thread that calls this runs a test from now on. */
  public void begin() {
    owner = Thread.currentThread();
  }

  /** How long to wait now, where {@code full} is for a wait that nothing was in vain before. */
  public synchronized Duration of(Duration full) {
    if (inVain == 0) {
      return full;
    }
    Duration usual = Duration.ofNanos(TIMES_THE_LONGEST * longest);
    Duration least = inVain == 1 ? AFTER_ONE : AFTER_MORE;
    Duration less = usual.compareTo(least) > 0 ? usual : least;
    return less.compareTo(full) < 0 ? less : full;
  }

  /** What has to happen did not, in all the patience that there was. */
  public synchronized void waitedInVain() {
    inVain++;
  }

  /** What has to happen did, after this time. */
  public synchronized void waited(long nanos) {
    longest = Math.max(longest, nanos);
  }

  /** Waits until the condition gives something; null when all patience was in vain. */
  public <R> @Nullable R await(Duration full, Supplier<@Nullable R> condition) {
    long begin = System.nanoTime();
    Deadline deadline = new Deadline(of(full));
    while (true) {
      R result = condition.get();
      if (result != null) {
        waited(System.nanoTime() - begin);
        return result;
      }
      if (deadline.isOver()) {
        waitedInVain();
        return null;
      }
      deadline.pause(PAUSE);
    }
  }

  /**
   * Does it, and rethrows what it throws, checked or not.
   *
   * @param what for the failure: this did not return
   * @param cause what is usually the cause of that
   * @throws Hung when it does not return
   */
  public <R> R call(String what, String cause, Duration full, Callable<R> action) {
    Thread current = Thread.currentThread();
    Worker one = worker;
    try {
      if (current == one.thread) {
        return running(one, what, cause, action);
      }
      return current == owner ? inOtherThread(one, what, cause, of(full), action) : action.call();
    } catch (Exception e) {
      throw unchecked(e);
    }
  }

  /** Something that gives nothing. */
  public interface Action {
    void run() throws Exception;
  }

  public void run(String what, String cause, Duration full, Action action) {
    call(
        what,
        cause,
        full,
        () -> {
          action.run();
          return true;
        });
  }

  /** Throws it, whatever it is. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  static <E extends Throwable> RuntimeException unchecked(@Nullable Throwable thrown) throws E {
    throw (E) requireNonNull(thrown);
  }

  private <R> R running(Worker one, String what, String cause, Callable<R> action)
      throws Exception {
    Running outer = one.running;
    one.running = new Running(what, cause, outer);
    try {
      return action.call();
    } catch (Throwable e) {
      if (thrown != e) {
        thrown = e;
        thrownBy = what;
      }
      throw e;
    } finally {
      one.running = outer;
    }
  }

  private <R> R inOtherThread(
      Worker one, String what, String cause, Duration limit, Callable<R> action) {
    long begin = System.nanoTime();
    Future<R> result = one.executor.submit(() -> running(one, what, cause, action));
    try {
      R returned = new Deadline(limit).get(result);
      waited(System.nanoTime() - begin);
      return returned;
    } catch (TimeoutException e) {
      Running hung = one.running;
      giveUp(one);
      throw hung == null
          ? new Hung(what, limit, cause)
          : new Hung(hung.what(), limit, hung.cause());
    } catch (ExecutionException e) {
      throw unchecked(e.getCause());
    } catch (AssertionError e) {
      giveUp(one); // it was interrupted
      throw e;
    }
  }

  private void giveUp(Worker one) {
    waitedInVain();
    one.executor.shutdownNow();
    givenUp = one;
    worker = new Worker();
  }

  /** Waits a little for what was given up: it may return now, and would disturb what comes next. */
  public void awaitGivenUp() {
    Worker last = givenUp;
    givenUp = null;
    if (last != null) {
      try {
        last.executor.awaitTermination(FOR_WHAT_WAS_GIVEN_UP.toMillis(), TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** What threw this, as "claim"; null when it was no call. */
  @Nullable String thrower(Throwable e) {
    return thrown == e ? thrownBy : null;
  }

  /** A call did not return. */
  public static final class Hung extends AssertionError {
    private static final long serialVersionUID = 1L;
    private final String what;

    Hung(String what, Duration limit, String cause) {
      super(
          "%s did not return in %s: %s. If it is only slow, let patience() give it longer"
              .formatted(what, seconds(limit), cause));
      this.what = what;
    }

    String what() {
      return what;
    }
  }

  /** Another rule is broken than that of the test. */
  public static final class OtherRuleBroken extends TestAbortedException {
    private static final long serialVersionUID = 1L;
    private final String rule;

    public OtherRuleBroken(String rule, Throwable cause) {
      super(cause.getMessage(), cause);
      this.rule = rule;
    }

    String rule() {
      return rule;
    }
  }

  /** As 20 s, or 0.3 s. */
  public static String seconds(Duration time) {
    double seconds = time.toMillis() / 1000.0;
    return seconds == Math.rint(seconds) ? (long) seconds + " s" : seconds + " s";
  }
}
