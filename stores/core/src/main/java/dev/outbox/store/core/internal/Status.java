package dev.outbox.store.core.internal;

/** Where a message stands; the names are those in the database. */
public enum Status {
  /** Due and free to go. */
  PENDING,
  /** Due later; holds nobody back. */
  SCHEDULED,
  /** Its key is blocked: it waits for the messages before it, or is the one they wait for. */
  BLOCKED,
  /** A dead letter. */
  DEAD
}
