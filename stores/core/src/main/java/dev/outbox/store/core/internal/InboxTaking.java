package dev.outbox.store.core.internal;

import dev.outbox.TransientOutboxException;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.Fingerprint;
import dev.outbox.inbox.Inbox.InProgressException;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Takes a key of an inbox. Inserts the key; where it is there, what is known of it decides, and a
 * key that nobody has is taken over (I2 to I7).
 *
 * @param <E> what the database knows of a key
 * @param <X> how it fails
 */
public interface InboxTaking<E extends InboxTaking.Known, X extends Exception> {

  /** How often another may be quicker before the caller is told. */
  int TRIES = 20;

  enum State {
    /** Somebody has the lock, or had it until it ran out. */
    STARTED,
    /** The lock was released. */
    FAILED,
    /** It was recorded or completed. */
    DONE
  }

  interface Known {
    State state();

    Fingerprint fingerprint();

    int attempts();

    InboxResult result();

    /** How long until the lock ends; it is over when this is not positive. */
    Duration left();

    /** Whether the caller, who asks with this fingerprint, cannot have the key. */
    default boolean isTaken(Fingerprint asked) {
      boolean isLocked = state() == State.STARTED && !left().isNegative() && !left().isZero();
      return isLocked || state() == State.DONE || asked.differsFrom(fingerprint());
    }
  }

  /** Inserts the key; false when it is there already. */
  boolean insert() throws X;

  /** What is there; null when it was forgotten, or rolled back, meanwhile. */
  @Nullable E find() throws X;

  /** Changes what has just been found; false when somebody else did meanwhile. */
  boolean takeOver(E found) throws X;

  private <R> R take(
      InboxKey key, Fingerprint fingerprint, IntFunction<R> taken, Function<E, R> there) throws X {
    for (int i = 0; i < TRIES; i++) {
      if (insert()) {
        return taken.apply(1);
      }
      E found = find();
      if (found != null && found.isTaken(fingerprint)) {
        return there.apply(found);
      }
      if (found != null && takeOver(found)) {
        return taken.apply(found.attempts() + 1);
      }
    }
    throw new TransientOutboxException(
        "%s changes hands all the time: run this again".formatted(key));
  }

  /**
   * As {@link dev.outbox.spi.store.InboxStore#begin}.
   *
   * @param lock by the number of attempts
   */
  default <T> Begin<T> begin(InboxKey key, Fingerprint fingerprint, IntFunction<Lock<T>> lock)
      throws X {
    return take(
        key,
        fingerprint,
        attempts -> new Begin.Started<>(lock.apply(attempts)),
        there -> {
          if (fingerprint.differsFrom(there.fingerprint())) {
            return new Begin.Mismatch<>();
          }
          return there.state() == State.DONE
              ? new Begin.Done<>(there.result())
              : new Begin.InProgress<>(there.left());
        });
  }

  /** As {@link dev.outbox.spi.store.InboxStore#firstTime}: what is taken is done at once. */
  default boolean firstTime(InboxKey key) throws X {
    return take(
        key,
        Fingerprint.none(),
        attempts -> true,
        there -> {
          if (there.state() != State.DONE) {
            throw new InProgressException(key, there.left());
          }
          return false;
        });
  }
}
