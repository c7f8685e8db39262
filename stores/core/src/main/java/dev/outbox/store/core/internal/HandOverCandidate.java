package dev.outbox.store.core.internal;

import dev.outbox.store.core.internal.Row.Claimable;
import java.util.UUID;

/**
 * A message as its append has stored it, in a bucket that had no others, and that somebody holds.
 *
 * @param token of the bucket's lease, as the append's snapshot has it
 * @param claimId of that lease
 */
public record HandOverCandidate(Claimable row, long token, UUID claimId) {}
