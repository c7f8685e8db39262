package dev.outbox.tck.store;

/**
 * Unlocks the test of messages that end or hang the process again and again (S6). Nothing to
 * implement: it says that the store finds them out.
 */
public interface FindsPoison {}
