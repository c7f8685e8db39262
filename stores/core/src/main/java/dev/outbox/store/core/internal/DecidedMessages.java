package dev.outbox.store.core.internal;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.store.core.internal.Row.Claimable;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The messages of a batch, each with its decision. Decisions come by sequence; they are looked up
 * once here, because that is a good part of what a message costs the client.
 */
final class DecidedMessages {
  private final List<Claimable> rows;
  private final @Nullable Decision[] decisions;
  private final int[] decided = new int[Database.BUCKETS];
  private final int[] undecided = new int[Database.BUCKETS];
  private final int[] undelivered = new int[Database.BUCKETS];
  private final int size;

  /**
   * @param rows in sequence order
   * @throws IllegalArgumentException when there are decisions on other messages
   */
  DecidedMessages(List<Claimable> rows, Map<Long, Decision> bySequence) {
    this.rows = rows;
    decisions = new Decision[rows.size()];
    int found = 0;
    for (int i = 0; i < decisions.length; i++) {
      Claimable row = rows.get(i);
      Decision decision = bySequence.get(row.sequence());
      decisions[i] = decision;
      if (decision == null) {
        undecided[row.bucket()]++;
      } else {
        decided[row.bucket()]++;
        found++;
      }
      if (!(decision instanceof Decision.Delivered)) {
        undelivered[row.bucket()]++;
      }
    }
    if (found < bySequence.size()) {
      Claim.requireKnown(rows.stream().map(Claimable::message).toList(), bySequence);
    }
    size = found;
  }

  List<Claimable> rows() {
    return rows;
  }

  /** The decision on the message with this place in the batch, or null. */
  @Nullable Decision of(int place) {
    return decisions[place];
  }

  boolean isEmpty() {
    return size == 0;
  }

  /** How many of a bucket's messages have a decision. */
  int decided(int bucket) {
    return decided[bucket];
  }

  /** Whether each of a bucket's messages has a decision. */
  boolean areDecided(int bucket) {
    return undecided[bucket] == 0;
  }

  /** Whether each of a bucket's messages was delivered. */
  boolean areDelivered(int bucket) {
    return undelivered[bucket] == 0;
  }
}
