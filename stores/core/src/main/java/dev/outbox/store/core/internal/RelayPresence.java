package dev.outbox.store.core.internal;

import dev.outbox.store.core.internal.HoldingRules.Load;
import dev.outbox.store.core.internal.HoldingRules.Relay;
import dev.outbox.store.core.internal.HoldingRules.State;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/**
 * What a relay shows of itself as long as its session lasts: a number, what it intends and how busy
 * it is, all in the 31 bits of one code. Its number stands in the claim id of its leases too.
 */
public final class RelayPresence {
  private static final int NUMBER_BITS = 27;
  private static final int NUMBER_SHIFT = 31 - NUMBER_BITS;
  private static final int REST = (1 << NUMBER_SHIFT) - 1;
  private static final long VERSION = 0xF000L;
  private static final long VERSION_8 = 0x8000L;
  private static final long LAST_32 = 0xFFFF_FFFFL;

  private RelayPresence() {}

  /** Random, so that it is nobody else's, nor that of one whose leases last still. */
  static int newNumber() {
    return ThreadLocalRandom.current().nextInt(1, 1 << NUMBER_BITS);
  }

  public static int number(int code) {
    return code >> NUMBER_SHIFT;
  }

  /** The number that a claim id of {@link #claimId} has. */
  public static int number(UUID claimId) {
    return (int) claimId.getLeastSignificantBits();
  }

  static int code(Relay relay) {
    int rest = relay.state().ordinal() * Load.values().length + relay.load().ordinal();
    return (int) relay.number() << NUMBER_SHIFT | rest;
  }

  static Relay of(int code) {
    int rest = code & REST;
    int loads = Load.values().length;
    return new Relay(
        number(code),
        State.values()[Math.min(rest / loads, State.values().length - 1)],
        Load.values()[rest % loads]);
  }

  /**
   * For all leases of a relay: of version 8, with the relay's number as its last 32 bits. All other
   * claim ids are random, of version 4, and say nothing.
   */
  static UUID claimId(int number) {
    UUID random = UUID.randomUUID();
    return new UUID(
        random.getMostSignificantBits() & ~VERSION | VERSION_8,
        random.getLeastSignificantBits() & ~LAST_32 | number);
  }
}
