package dev.outbox.store.core.internal;

import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The claim ids of one relay. While the relay shows that it lives ({@link RelayPresence}) its ids
 * have its number in their last 31 bits, and are of version 8: who finds a lease can ask whether
 * its relay lives. All others are random, of version 4, and such a lease lasts until its end. Safe
 * for use by many threads.
 */
public final class ClaimIds {
  private static final long VERSION = 0xF000L;
  private static final long VERSION_8 = 0x8000L;
  private static final long NUMBER = 0xFFFF_FFFFL;

  private final int relay = ThreadLocalRandom.current().nextInt(1, Integer.MAX_VALUE);
  private volatile boolean present;

  /** The relay's number: random, so that it is nobody else's. */
  int relay() {
    return relay;
  }

  void present(boolean isPresent) {
    present = isPresent;
  }

  /** Whether ids say now whose they are. */
  boolean arePresent() {
    return present;
  }

  UUID next() {
    UUID random = UUID.randomUUID();
    return present
        ? new UUID(
            random.getMostSignificantBits() & ~VERSION | VERSION_8,
            random.getLeastSignificantBits() & ~NUMBER | relay)
        : random;
  }
}
