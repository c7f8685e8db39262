package dev.outbox.store.core.internal;

import dev.outbox.spi.store.Claim;
import dev.outbox.store.core.internal.Database.Leases;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Which relays live, and which buckets each holds. Each has a session, and in it a lock for its
 * {@link RelayPresence} that the database drops when the session ends. Nobody waits for such a
 * lock.
 */
public interface Holding<H> {

  /**
   * Whether this session stays the client's, and all can see what it shows: not behind a pooler,
   * and not in a cluster whose nodes do not tell each other.
   */
  boolean isSeen(H handle);

  /**
   * Makes this session, which {@link #isSeen}, the sign that a relay lives.
   *
   * @return false where there is no room for one more
   */
  boolean begin(H handle, int code);

  /** Shows another sign instead, without a moment in which there is none. */
  void change(H handle, int before, int after);

  /** Takes the sign back: a pool may keep the session for others. */
  void leave(H handle, int code);

  /**
   * Notices that the session has ended, without a statement.
   *
   * @param most how long to wait for what others {@link #announce}, where the session listens
   * @return what they did
   * @throws RuntimeException as from a statement, when the session has ended
   */
  Optional<Announcement> check(H handle, Duration most);

  /** Whether sessions can tell each other something. */
  default boolean announces() {
    return false;
  }

  /** From now on, {@link #check} hears what others announce, or does not. */
  default void listen(H handle, boolean on) {
    throw new UnsupportedOperationException();
  }

  /** Tells all that listen; waits for no disk. */
  default void announce(H handle, Announcement announcement) {
    throw new UnsupportedOperationException();
  }

  /** All buckets as they are now, and the signs of all relays after that. */
  Seen look(H handle);

  /**
   * Leases buckets that nobody has locked and that are as they were seen: their tokens are the
   * same, and what was free is free. The token alone does not say that: who had a lease that had
   * ended may have prolonged it since.
   */
  List<Lease> take(H handle, UUID claimId, Claim.Request request, Collection<SeenBucket> seen);

  /**
   * Extends leases that nobody works under, as {@link Leases#renew}. Their holder is well: what was
   * counted of holders that did not come back is forgotten (S6).
   */
  Set<Integer> hold(H handle, UUID claimId, Collection<Lease> leases, Duration lease);

  /**
   * The lease without what is remembered of its bucket: now and then, in case it should be wrong.
   */
  Lease forget(Lease lease);

  /**
   * Who holds what.
   *
   * @param settled whether the server has been up for long enough for all relays to have come back
   */
  record Seen(List<SeenBucket> buckets, List<Integer> codes, boolean settled) {}

  /**
   * A bucket as a look has it.
   *
   * @param holder a relay's number, {@link #FREE} or {@link #ANONYMOUS}
   */
  record SeenBucket(int bucket, long token, long holder) {
    public static final long FREE = 0;

    /** The holder of a lease that names none: it lasts until its end. */
    public static final long ANONYMOUS = -1;

    public boolean isFree() {
      return holder == FREE;
    }
  }
}
