package dev.outbox.tck.store;

/**
 * Says that messages get their sequences when their transaction commits, and their delays count
 * from there: so the order of a key is that of commits, and nothing is committed late. The stories
 * of {@link OutboxStoreProperties} then expect that order.
 */
public interface SequencesAtCommit {}
