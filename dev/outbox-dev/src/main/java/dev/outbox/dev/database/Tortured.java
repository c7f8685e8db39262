package dev.outbox.dev.database;

import dev.outbox.OutboxMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;

/**
 * A database that can be tortured: in which producers do more, and which answers what an oracle
 * asks.
 *
 * @param <T> a transaction
 */
public interface Tortured<T> extends Place<T> {

  /** The transaction's commit need not be durable when it returns, where this gives true. */
  default boolean commitLater(T transaction) {
    return false;
  }

  /** Appends as a program in another language does, standing still in the middle if it can. */
  default void appendPlain(T transaction, OutboxMessage message, int stallMillis) {
    var unused = store().append(transaction, message);
  }

  /** Does it, and rolls back to before it, where a part of a transaction can be; else nothing. */
  default void inVain(T transaction, Runnable work) {}

  /** Somebody in the process takes all connections of the pool; begins to, and returns. */
  void exhaust(long millis);

  /**
   * Somebody begins to take all connections of a pool, for a while, and then gives them back.
   *
   * @param pool gives a connection, or fails
   */
  static void exhaust(int size, Callable<? extends AutoCloseable> pool, long millis) {
    long until = System.nanoTime() + Duration.ofMillis(millis).toNanos();
    Runnable somebody =
        () -> {
          List<AutoCloseable> taken = new ArrayList<>();
          while (until - System.nanoTime() > 0) {
            try {
              if (taken.size() < size) {
                taken.add(pool.call());
              } else {
                Thread.sleep(10);
              }
            } catch (Exception e) {
              // others have them all, or the database is away: once more
            }
          }
          taken.forEach(Tortured::close);
        };
    Thread thread = new Thread(somebody, "exhaust");
    thread.setDaemon(true);
    thread.start();
  }

  /** However it ends. */
  static void close(AutoCloseable connection) {
    try {
      connection.close();
    } catch (Exception e) {
      // as good as closed
    }
  }

  /** A session of somebody else; empty when the server takes no more, or is away. */
  Optional<AutoCloseable> connect();

  /**
   * A session that keeps what is removed from going; empty when there is no such thing, or the
   * server is away.
   */
  default Optional<AutoCloseable> snapshot() {
    return Optional.empty();
  }

  /** How many messages are in the outbox, dead letters among them. */
  long waiting();

  /** Some of them, for people. */
  String firstWaiting();

  /** What must not be at any time, a sentence each. */
  List<String> wrong();

  /** How much is held by relays. */
  long held();

  /** How long what a killed process has held in a transaction stays so. */
  default Duration longestHold() {
    return Duration.ZERO;
  }

  /** What was kept of messages that left the outbox; empty where nothing is. */
  default Optional<Kept> kept() {
    return Optional.empty();
  }

  /**
   * An archive, and what it must agree with.
   *
   * @param left those that are in the outbox
   * @param audit as {@code requeue 4711}
   */
  record Kept(List<Work.Archived> archived, List<UUID> left, List<String> audit) {}
}
