package dev.outbox.spi.store;

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
   * Prolongs the lease to {@code lease} from now.
   *
   * @return the sequences that are still ours; the others were taken over
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
}
