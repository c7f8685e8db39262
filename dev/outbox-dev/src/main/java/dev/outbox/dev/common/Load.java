package dev.outbox.dev.common;

import dev.outbox.cli.Failure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Clients that make transactions by turns, each on a thread of its own. Each transaction has its
 * time on a schedule, whatever became of those before it. They make what is allowed, and then wait
 * for more; what was not done while they had to wait is not made up for: that would be a burst.
 */
public final class Load implements AutoCloseable {
  private static final long LOOK_NANOS = 10_000_000;

  /** A transaction takes less, unless something is wrong. */
  private static final Duration LONGEST = Duration.ofSeconds(15);

  /** Used by one thread. */
  public interface Client {
    void transaction() throws InterruptedException;
  }

  private final String name;
  private final int all;
  private final List<Turns> clients = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private volatile long allowed;
  private volatile int rate = 1;
  private volatile boolean stopped;

  /** Of the only clients that there are. */
  public Load(String name, List<? extends Client> clients) {
    this(name, clients, 0, clients.size());
  }

  /**
   * Starts them; nothing is allowed yet.
   *
   * @param name of what fails where a client does
   * @param first number of the first client here
   * @param all clients, of which other processes may have some
   */
  public Load(String name, List<? extends Client> clients, int first, int all) {
    this.name = name;
    this.all = all;
    for (int i = 0; i < clients.size(); i++) {
      Turns turns = new Turns(clients.get(i), first + i);
      this.clients.add(turns);
      Thread thread = new Thread(turns::run, "client-" + i);
      thread.setDaemon(true);
      threads.add(thread);
    }
    threads.forEach(Thread::start);
  }

  /**
   * Lets all clients together make transactions until there are so many.
   *
   * @param most counted from the first on
   * @param rate of all clients, in transactions a second
   */
  public void allow(long most, int rate) {
    this.rate = rate;
    allowed = most;
    threads.forEach(LockSupport::unpark);
  }

  /**
   * True when all transactions were made that are allowed for now.
   *
   * @throws Failure when one failed
   */
  public boolean done() {
    Throwable e = failure.get();
    if (e != null) {
      throw new Failure(name + " failed: " + e.getMessage(), e);
    }
    return clients.stream().allMatch(client -> client.waitsAt >= allowed);
  }

  /** Returns when {@link #done}. */
  public void await() throws InterruptedException {
    while (!done()) {
      Thread.sleep(1);
    }
  }

  /** Ends them, when their transactions have ended. */
  @Override
  public void close() throws InterruptedException {
    stopped = true;
    threads.forEach(LockSupport::unpark);
    for (Thread thread : threads) {
      thread.join(LONGEST.toMillis());
    }
  }

  private final class Turns {
    private final Client client;
    private final int number;

    /** The transaction that it is not allowed to begin; negative while it works. */
    private volatile long waitsAt = -1;

    private long begin = System.nanoTime();
    private long paced;

    private Turns(Client client, int number) {
      this.client = client;
      this.number = number;
    }

    private void run() {
      try {
        for (long next = number; !stopped; next += all) {
          awaitAllowance(next);
          awaitTime();
          if (!stopped) {
            client.transaction();
          }
        }
      } catch (Throwable e) {
        failure.compareAndSet(null, e);
      }
    }

    private void awaitAllowance(long next) {
      if (next >= allowed) {
        waitsAt = next;
        while (!stopped && next >= allowed) {
          LockSupport.parkNanos(LOOK_NANOS);
        }
        waitsAt = -1;
        begin = System.nanoTime();
        paced = 0;
      }
    }

    private void awaitTime() {
      long turn = paced++ * all + number;
      long due = begin + turn * 1_000_000_000L / rate;
      while (!stopped && due - System.nanoTime() > 0) {
        LockSupport.parkNanos(due - System.nanoTime());
      }
    }
  }
}
