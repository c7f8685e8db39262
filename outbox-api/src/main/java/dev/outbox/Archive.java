package dev.outbox;

/**
 * What a store keeps of messages that leave it: delivered and expired ones, and dead letters that
 * are removed.
 */
public enum Archive {
  /** Nothing; the default. It costs nothing. */
  NONE,
  /** All but payload and headers. */
  METADATA,
  /** All, so that a message can be replayed. */
  FULL
}
