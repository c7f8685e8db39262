package dev.outbox.store.core.internal;

import java.util.List;

/**
 * What an append says of its messages to those who hold their buckets. True only once its
 * transaction has committed.
 *
 * @param candidates those that may be handed over, in sequence order
 * @param announcement all of them; {@link Announcement#ANYTHING} when the commit does not wait for
 *     the disk
 */
public record AppendReport(List<HandOverCandidate> candidates, Announcement announcement) {
  /** The report of an append that could not be asked. */
  public static final AppendReport NOTHING = new AppendReport(List.of(), Announcement.ANYTHING);
}
