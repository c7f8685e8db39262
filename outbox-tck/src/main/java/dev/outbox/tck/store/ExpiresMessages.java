package dev.outbox.tck.store;

/**
 * Unlocks the tests of messages that expire (C10). Nothing to implement: it says that the store
 * lets them. One that does not refuses them at the append.
 */
public interface ExpiresMessages {}
