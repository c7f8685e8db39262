package dev.outbox.spi.store;

import static java.util.Objects.requireNonNull;

import dev.outbox.OutboxException;
import dev.outbox.Texts;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * A lease on some keys and their oldest due messages, for one relay worker (C1, C2, C4). Its
 * methods may be called by different threads, but not at the same time. It ends with {@link
 * #settle}.
 */
public interface Claim {

  /** Messages of one key in sequence order; unmodifiable, may be empty. */
  List<StoredMessage> messages();

  /**
   * True when there may be more work at this moment than the claim brought, so that polling again
   * at once makes sense.
   */
  default boolean pollAgain() {
    return false;
  }

  /**
   * Makes the lease last for this long from now on, by the store's clock.
   *
   * @param lease as {@link Request#lease}
   * @return the sequences that the claim still holds; the others were taken over
   * @throws dev.outbox.TransientOutboxException when trying again can help
   */
  Set<Long> renew(Duration lease);

  /**
   * Carries out one decision a message and ends the lease. Atomic for each key, and only for those
   * still held (S1). A message without a decision is released as it was (S2). Of a key's messages
   * at most one is to wait or to halt the key: later ones wait behind it, and need no decision.
   *
   * @param decisions by sequence; sequences that the claim does not have are refused
   * @return the sequences whose lease was lost: nothing changed for them
   * @throws dev.outbox.TransientOutboxException when it is not known whether it happened; calling
   *     again with the same decisions is safe and counts nothing twice
   */
  Set<Long> settle(Map<Long, Decision> decisions);

  /**
   * For stores: refuses decisions on messages that a claim does not have.
   *
   * @throws IllegalArgumentException naming their sequences
   */
  static void requireKnown(List<StoredMessage> claimed, Map<Long, Decision> decisions) {
    Set<Long> unknown = new TreeSet<>(decisions.keySet());
    claimed.forEach(message -> unknown.remove(message.sequence()));
    if (!unknown.isEmpty()) {
      throw new IllegalArgumentException(
          "the claim does not have the sequences " + unknown + ": settle only what it brought");
    }
  }

  /**
   * What a relay worker asks for.
   *
   * @param worker its name: for people, and to share work fairly. It decides nothing about who
   *     holds what
   * @param maxMessages at least 1; the claim has no more
   * @param maxBytes the most payload bytes of all its messages together, at least 1; a single
   *     larger message is claimed all the same
   * @param lease how long the claim is held unless renewed; at least 1 ms
   */
  record Request(String worker, int maxMessages, long maxBytes, Duration lease) {
    public Request {
      requireNonNull(worker, "worker");
      if (maxMessages < 1) {
        throw new IllegalArgumentException(
            "maxMessages is " + maxMessages + ", at least 1 is needed");
      }
      if (maxBytes < 1) {
        throw new IllegalArgumentException("maxBytes is " + maxBytes + ", at least 1 is needed");
      }
      if (lease.toMillis() < 1) {
        throw new IllegalArgumentException(
            "lease is " + Texts.time(lease) + ", at least 1 ms is needed");
      }
    }
  }

  /**
   * Where workers get their claims: a store, or what it keeps for a relay. Safe for use by many
   * threads.
   */
  interface Source {

    /**
     * Leases some keys and returns their oldest due messages. Never waits for another relay or for
     * an open producer transaction (C3).
     *
     * @return a claim, empty when nothing is due that nobody else holds
     * @throws dev.outbox.TransientOutboxException when trying again can help; nothing is lost
     * @throws dev.outbox.SchemaException when the tables are missing or of another version
     * @throws OutboxException for any other failure
     */
    Claim claim(Request request);

    /**
     * Settles a claim and takes the next one; a store may keep the lease from one to the other.
     *
     * @throws OutboxException as {@link Claim#settle} and {@link #claim}
     */
    default Settled settleAndClaim(Claim done, Map<Long, Decision> decisions, Request next) {
      return new Settled(done.settle(decisions), claim(next));
    }
  }

  /**
   * What {@link Source#settleAndClaim} did.
   *
   * @param lost as {@link Claim#settle} returns
   * @param next may be empty
   */
  record Settled(Set<Long> lost, Claim next) {
    public Settled {
      lost = Set.copyOf(lost);
    }
  }
}
