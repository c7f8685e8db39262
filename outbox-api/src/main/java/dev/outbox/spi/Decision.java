package dev.outbox.spi;

import static java.util.Objects.requireNonNull;

import java.time.Duration;

/** What the relay tells the store of one message (S2). */
public sealed interface Decision {

  /** Delivered: the message is gone. */
  record Delivered() implements Decision {}

  /**
   * Due again after the delay; until then later messages of its key wait (O2).
   *
   * @param delay clamped by the store to 0 to 10 years (S5)
   * @param counts whether attempts goes up by one
   * @param error kept for people; cut and cleaned by the store (S5)
   */
  record Retry(Duration delay, boolean counts, String error) implements Decision {
    public Retry {
      requireNonNull(delay, "delay");
      requireNonNull(error, "error");
    }
  }

  /**
   * A dead letter, with one more attempt. Later messages of its key go on, or, when it blocks its
   * key, wait until someone requeues or discards it (O3).
   *
   * @param error kept for people; cut and cleaned by the store (S5)
   * @param blocksKey {@code BLOCK_KEY}
   */
  record Dead(String error, boolean blocksKey) implements Decision {
    public Dead {
      requireNonNull(error, "error");
    }
  }

  /** The one {@link Delivered}. */
  Decision DELIVERED = new Delivered();

  static Decision delivered() {
    return DELIVERED;
  }

  static Decision retry(Duration delay, boolean counts, String error) {
    return new Retry(delay, counts, error);
  }

  static Decision dead(String error, boolean blocksKey) {
    return new Dead(error, blocksKey);
  }
}
