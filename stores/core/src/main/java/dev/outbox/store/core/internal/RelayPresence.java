package dev.outbox.store.core.internal;

import dev.outbox.store.core.internal.Database.Gone;
import dev.outbox.store.core.internal.Database.Sessions;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;

/**
 * Shows that a relay lives, by a session of its own, and ends the leases of relays whose sessions
 * are gone. So the keys of a process that was killed stand still for a second or two, and not until
 * its leases end.
 *
 * <p>A session may also end while its process lives. Then the relay comes back with another within
 * some hundred milliseconds; so a lease is only ended when its relay was missed in two looks. If
 * that is a mistake, messages come twice but in order: who has the key next begins at its oldest
 * message, and what the old holder settles late is fenced by the token. For one thread.
 */
public final class RelayPresence<H> {
  static final Duration LOOKS = Duration.ofSeconds(1);

  /** Between two looks at a relay that is gone. */
  static final Duration SECOND_LOOK = Duration.ofMillis(400);

  /** How soon it is noticed that the session has ended. */
  static final Duration CHECKS = Duration.ofMillis(100);

  /** After a failover all sessions are gone at once, and come back in this time. */
  static final Duration OTHERS_COME_BACK = Duration.ofSeconds(5);

  /** Looks of many relays should not coincide. */
  private static final double JITTER = 0.1;

  /** How long the database waits for a client that stops in a transaction. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  /** As {@link Thread#sleep}. */
  interface Sleep {
    void sleep(Duration pause) throws InterruptedException;
  }

  private final Transactions<H> transactions;
  private final Sessions<H> sessions;
  private final ClaimIds ids;
  private final LongSupplier clock;
  private final Sleep sleep;

  /** Whether there was a session before: then this one's server may be another. */
  private boolean hadOne;

  /**
   * @param clock as {@link System#nanoTime}
   */
  RelayPresence(
      Transactions<H> transactions,
      Sessions<H> sessions,
      ClaimIds ids,
      LongSupplier clock,
      Sleep sleep) {
    this.transactions = transactions;
    this.sessions = sessions;
    this.ids = ids;
    this.clock = clock;
    this.sleep = sleep;
  }

  /**
   * Shows it until the thread is interrupted. Returns at once where there can be no session.
   *
   * @param begun is run when the first session has begun
   * @throws dev.outbox.OutboxException when the session has ended; to be called again then
   */
  public void show(Runnable begun) throws InterruptedException {
    Transactions<H> session = transactions.ofOneSession();
    if (session == null) {
      return;
    }
    try {
      if (!session.runSingle(PATIENCE, handle -> sessions.begin(handle, ids.relay()))) {
        return;
      }
      ids.present(true);
      if (!hadOne) {
        begun.run();
      }
      try {
        look(session, clock.getAsLong() + (hadOne ? OTHERS_COME_BACK.toNanos() : 0));
      } catch (InterruptedException e) {
        leave(session);
        throw e;
      }
    } catch (RuntimeException | Error e) {
      session.abandon(); // or else a pool could keep it, with the sign
      throw e;
    } finally {
      hadOne |= ids.arePresent();
      ids.present(false);
      session.close();
    }
  }

  private void leave(Transactions<H> session) {
    boolean ignored =
        session.runSingle(
            PATIENCE,
            handle -> {
              sessions.leave(handle, ids.relay());
              return true;
            });
  }

  /**
   * @param from when leases may be ended, by the clock
   */
  private void look(Transactions<H> session, long from) throws InterruptedException {
    Set<Gone> before = Set.of();
    while (true) {
      List<Gone> gone =
          clock.getAsLong() < from
              ? List.of()
              : session.runSingle(PATIENCE, handle -> sessions.gone(handle, ids.relay()));
      List<Gone> again = gone.stream().filter(before::contains).toList();
      if (!again.isEmpty()) {
        boolean ignored =
            session.run(
                PATIENCE,
                handle -> {
                  sessions.end(handle, again);
                  return true;
                });
      }
      boolean second = gone.size() > again.size();
      before = Set.copyOf(gone);
      await(session, second ? SECOND_LOOK : jittered(LOOKS));
    }
  }

  private void await(Transactions<H> session, Duration pause) throws InterruptedException {
    long end = clock.getAsLong() + pause.toNanos();
    for (long left = pause.toNanos(); left > 0; left = end - clock.getAsLong()) {
      sleep.sleep(Duration.ofNanos(Math.min(left, CHECKS.toNanos())));
      boolean ignored =
          session.runSingle(
              PATIENCE,
              handle -> {
                sessions.check(handle);
                return true;
              });
    }
  }

  private static Duration jittered(Duration pause) {
    double factor = 1 + JITTER * (2 * ThreadLocalRandom.current().nextDouble() - 1);
    return Duration.ofNanos((long) (pause.toNanos() * factor));
  }
}
