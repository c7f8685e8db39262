package dev.outbox.tck.store;

/**
 * Unlocks the tests of messages that expire (C10). Nothing to implement: it says that the store
 * lets them. One that does not has to refuse them at the append, which is tested in any case.
 */
public interface ExpiresMessages {}
