package dev.outbox.store.core.internal;

import dev.outbox.store.core.internal.Row.Claimable;
import java.util.List;
import java.util.UUID;

/**
 * What an append says of its messages to those who hold their buckets. True only once its
 * transaction has committed.
 *
 * @param candidates those that may be handed over, in sequence order
 * @param announcement all of them; {@link Announcement#ANYTHING} when the commit does not wait for
 *     the disk
 */
public record AppendReport(List<Candidate> candidates, Announcement announcement) {
  /**
   * A message as it was stored, in a bucket that had no others, and that somebody holds.
   *
   * @param token of the bucket's lease, as the append's snapshot has it
   * @param claimId of that lease
   */
  public record Candidate(Claimable row, long token, UUID claimId) {}

  /** The report of an append that could not be asked. */
  public static final AppendReport NOTHING = new AppendReport(List.of(), Announcement.ANYTHING);
}
