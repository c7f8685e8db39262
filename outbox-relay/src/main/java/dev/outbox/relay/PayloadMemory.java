package dev.outbox.relay;

import dev.outbox.OutboxMessage;

/**
 * What the payloads of all workers may take of the heap: docs/design/relay.md has the copies.
 *
 * @param most as {@link Runtime#maxMemory}
 */
record PayloadMemory(long most) {
  private static final long MIB = 1 << 20;

  /** For all but payloads. */
  static final long REST = 32 * MIB;

  /** So many times the bytes of a batch a worker may need. */
  static final int TIMES = 12;

  /** The least of a batch that is chosen for somebody: room for large payloads. */
  static final long LEAST_BATCH = 2L * OutboxMessage.MAX_PAYLOAD;

  /**
   * The bytes of a batch when nobody set them: as many as fit.
   *
   * @throws IllegalArgumentException when not even a small batch does
   */
  long batchBytes(int workers, long wanted) {
    long fit = (most - REST) / TIMES / workers;
    if (fit < LEAST_BATCH) {
      throw new IllegalArgumentException(
          "%s workers need a heap of %s MiB, this relay has at most %s MiB: use fewer workers, raise -Xmx, or set batchBytes where payloads are small"
              .formatted(workers, mib(needed(workers, LEAST_BATCH)), most / MIB));
    }
    return Math.min(wanted, fit);
  }

  /**
   * Refuses what cannot fit.
   *
   * @throws IllegalArgumentException saying how much is needed
   */
  void check(int workers, long batchBytes) {
    if (needed(workers, batchBytes) > most) {
      throw new IllegalArgumentException(
          "%s workers with a batchBytes of %s need a heap of %s MiB, this relay has at most %s MiB: lower one of the two, or raise -Xmx"
              .formatted(workers, batchBytes, mib(needed(workers, batchBytes)), most / MIB));
    }
  }

  private static long needed(int workers, long batchBytes) {
    return REST + TIMES * workers * batchBytes;
  }

  private static long mib(long bytes) {
    return (bytes + MIB - 1) / MIB;
  }
}
