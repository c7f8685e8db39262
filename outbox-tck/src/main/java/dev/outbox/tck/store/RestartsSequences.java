package dev.outbox.tck.store;

/** Unlocks the tests of messages that are lost while a claim has them (S1). */
public interface RestartsSequences {

  /**
   * Removes all messages and makes sequences begin again, as {@code TRUNCATE} does in many
   * databases; a failover to a standby that lags behind comes to the same. Leases stay as they are.
   */
  void restartSequences();
}
