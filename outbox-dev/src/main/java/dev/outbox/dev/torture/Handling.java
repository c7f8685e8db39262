package dev.outbox.dev.torture;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.TransientOutboxException;
import dev.outbox.dev.JdbcTransaction;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Fingerprint;
import dev.outbox.inbox.InProgressException;
import dev.outbox.inbox.Inbox;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.inbox.Lock;
import dev.outbox.store.jdbc.JdbcInboxStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What a consumer does about the messages that it gets, on threads of its own: by an inbox, in one
 * of three ways, which the message's id decides. Some messages are handled by two threads at once.
 *
 * <p>It writes down, for the oracle:
 *
 * <ul>
 *   <li>"handled WAY ID": the transaction with the effect was committed;
 *   <li>"repeated WAY ID": the inbox said that it had been;
 *   <li>"locked NUMBER WAY ID ASKED MILLIS", "renewed-lock NUMBER ASKED MILLIS", "unlocks NUMBER":
 *       a lock was had, was prolonged, is about to be completed or released;
 *   <li>"completed ID RESULT ASKED": it was; "given ID RESULT ASKED": the inbox knew the result;
 *   <li>"failed WAY ID ERROR": for a reason that does not pass.
 * </ul>
 */
final class Handling implements AutoCloseable {
  static final String TABLE =
      "create table torture_effect (way varchar(16) not null, message varchar(36) not null)";

  /** How a message is handled. */
  enum Way {
    /** Recorded in the transaction of the effect. */
    RECORDED,
    /** Locked; completed in the transaction of the effect. */
    LOCKED,
    /** Locked; completed with a result, which is forgotten soon. */
    RESULT;

    static Way of(UUID message) {
      return values()[Math.floorMod(message.hashCode(), values().length)];
    }
  }

  /** Of {@link Way#RESULT}. */
  static final Duration RETENTION = Duration.ofSeconds(3);

  private static final int THREADS = 2;

  /** What does not fit is not handled: its offset is committed anyway. */
  private static final int MOST_WAITING = 500;

  private static final int TRIES = 5;
  static final int LOCK_MILLIS = 1_500;
  private static final int WORK_MILLIS = 20;
  private static final double AT_ONCE = 0.2;
  private static final double SLOW = 0.04;
  private static final double RENEWS = 0.2;
  private static final double FAILS = 0.1;
  private static final double PURGES = 0.02;

  private final Child child;
  private final HikariDataSource pool;
  private final JdbcInboxStore remembering;
  private final JdbcInboxStore forgetful;
  private final BlockingQueue<UUID> waiting = new ArrayBlockingQueue<>(MOST_WAITING);
  private final AtomicLong numbers = new AtomicLong();
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean ending;

  Handling(Child child) {
    this.child = child;
    pool = child.pool(THREADS);
    remembering = child.dialect().inbox(pool).build();
    forgetful = child.dialect().inbox(pool).retention(RETENTION).build();
    for (int i = 0; i < THREADS; i++) {
      Worker worker = new Worker(new Random(child.seed() + i));
      Thread thread = new Thread(worker::run, "handling-" + i);
      thread.start();
      threads.add(thread);
    }
  }

  /** Returns at once. */
  void handle(UUID message, Random random) {
    int times = random.nextDouble() < AT_ONCE ? 2 : 1;
    for (int i = 0; i < times; i++) {
      boolean ignored = waiting.offer(message);
    }
  }

  /** Returns when all that waits is handled. */
  @Override
  public void close() {
    ending = true;
    try {
      for (Thread thread : threads) {
        thread.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    pool.close();
  }

  private static void effect(Connection connection, Way way, UUID message) throws SQLException {
    String sql = "insert into torture_effect (way, message) values (?, ?)";
    try (PreparedStatement insert = connection.prepareStatement(sql)) {
      insert.setString(1, way.name());
      insert.setString(2, message.toString());
      int ignored = insert.executeUpdate();
    }
  }

  private final class Worker {
    private final Random random;

    Worker(Random random) {
      this.random = random;
    }

    void run() {
      try {
        while (!ending || !waiting.isEmpty()) {
          UUID message = waiting.poll(WORK_MILLIS, TimeUnit.MILLISECONDS);
          if (message != null) {
            handle(message);
          }
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    /** What fails again and again is given up, as by a consumer that crashes. */
    private void handle(UUID message) throws InterruptedException {
      for (int i = 0; i < TRIES; i++) {
        try {
          if (random.nextDouble() < PURGES) {
            forgetful.housekeep();
          }
          handleBy(Way.of(message), message);
          return;
        } catch (InProgressException e) {
          Thread.sleep(Math.min(e.left().toMillis(), LOCK_MILLIS));
        } catch (TransientOutboxException | SQLException e) {
          Thread.sleep(WORK_MILLIS);
        } catch (RuntimeException e) {
          e.printStackTrace();
          String error = String.valueOf(e).replaceAll("\\s+", "_");
          child.journal().write("failed", Way.of(message), message, error);
          return;
        }
      }
    }

    private void handleBy(Way way, UUID message) throws SQLException, InterruptedException {
      switch (way) {
        case RECORDED -> record(message);
        case LOCKED -> lock(remembering, way, message);
        case RESULT -> lock(forgetful, way, message);
      }
    }

    private void record(UUID message) throws SQLException {
      boolean first =
          JdbcTransaction.run(
              pool,
              connection -> {
                boolean isFirst = remembering.firstTime(connection, key(Way.RECORDED, message));
                if (isFirst) {
                  effect(connection, Way.RECORDED, message);
                }
                return isFirst;
              });
      child.journal().write(first ? "handled" : "repeated", Way.RECORDED, message);
    }

    private void lock(Inbox<Connection> inbox, Way way, UUID message)
        throws SQLException, InterruptedException {
      Duration time = Duration.ofMillis(1 + random.nextInt(LOCK_MILLIS));
      long asked = System.nanoTime();
      Begin<Connection> begin = inbox.begin(key(way, message), time, fingerprint(message));
      if (begin instanceof Begin.Started<Connection> started) {
        long number = numbers.incrementAndGet();
        child.journal().write("locked", number, way, message, asked, time.toMillis());
        work(number, started.lock(), time);
        complete(way, message, number, started.lock());
      } else if (begin instanceof Begin.Done<Connection> done) {
        child.journal().write("repeated", way, message);
        if (way == Way.RESULT) {
          child.journal().write("given", message, text(done.result()), asked);
        }
      } else if (begin instanceof Begin.InProgress<Connection> other) {
        throw new InProgressException(key(way, message), other.left());
      } else {
        child.journal().write("mismatch", way, message);
      }
    }

    /** Now and then for longer than the lock lasts. */
    private void work(long number, Lock<Connection> lock, Duration time)
        throws InterruptedException {
      if (random.nextDouble() < RENEWS) {
        long asked = System.nanoTime();
        if (lock.renew(time)) {
          child.journal().write("renewed-lock", number, asked, time.toMillis());
        }
      }
      Thread.sleep(
          random.nextDouble() < SLOW ? time.toMillis() * 5 / 4 : random.nextInt(WORK_MILLIS));
    }

    private void complete(Way way, UUID message, long number, Lock<Connection> lock)
        throws SQLException {
      child.journal().write("unlocks", number);
      if (random.nextDouble() < FAILS) {
        boolean ignored = lock.release("by chance");
      } else if (way == Way.LOCKED) {
        boolean completed =
            JdbcTransaction.run(
                pool,
                connection -> {
                  effect(connection, way, message);
                  return lock.complete(connection, InboxResult.none());
                });
        if (completed) {
          child.journal().write("handled", way, message);
        }
      } else {
        InboxResult result = InboxResult.of((child.name() + "/" + number).getBytes(UTF_8), null);
        long asked = System.nanoTime();
        if (lock.complete(result)) {
          child.journal().write("completed", message, text(result), asked);
        }
      }
    }
  }

  static InboxKey key(Way way, UUID message) {
    return new InboxKey(way.name(), message.toString());
  }

  static Fingerprint fingerprint(UUID message) {
    return Fingerprint.of(message.toString().getBytes(UTF_8));
  }

  private static String text(InboxResult result) {
    return new String(result.content(), UTF_8);
  }
}
