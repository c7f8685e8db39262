package dev.outbox.store.core;

import java.util.List;
import java.util.Set;

/**
 * What a claim found in the buckets it leased.
 *
 * @param leases those that brought messages, or from which something was moved away; the others
 *     were given back already
 * @param rows the messages claimed, in sequence order
 * @param more the buckets that probably have more messages that are due
 * @param pollAgain whether there may be more at this moment
 */
record Batch(List<Lease> leases, List<Row> rows, Set<Integer> more, boolean pollAgain) {}
