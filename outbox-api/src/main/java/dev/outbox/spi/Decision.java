package dev.outbox.spi;

import static java.util.Objects.requireNonNull;

import dev.outbox.OutboxMessage;
import java.time.Duration;

/** What the relay tells the store of one message (S2). Made by the methods of this interface. */
public sealed interface Decision {

  /**
   * Delivered: the message is gone.
   *
   * @param result what the publisher said, for the archive
   */
  record Delivered(Result.Delivered result) implements Decision {
    public Delivered {
      requireNonNull(result, "result");
    }

    /** As without an answer, which is for the archive. */
    @Override
    public String toString() {
      return result.toString();
    }
  }

  /**
   * Due again after the delay; until then later messages of its key wait (O2).
   *
   * @param delay from 0 to {@link OutboxMessage#MAX_DELAY}: what is given is clamped (S5)
   * @param counts whether attempts goes up by one
   * @param error kept for people: what is given is cleaned, as {@link ErrorText#clean} does (S5)
   */
  record Retry(Duration delay, boolean counts, String error) implements Decision {
    public Retry {
      delay = clamp(delay);
      error = ErrorText.clean(error);
    }

    private static Duration clamp(Duration delay) {
      if (delay.isNegative()) {
        return Duration.ZERO;
      }
      return delay.compareTo(OutboxMessage.MAX_DELAY) > 0 ? OutboxMessage.MAX_DELAY : delay;
    }
  }

  /**
   * A dead letter, with one more attempt (O3).
   *
   * @param error kept for people: what is given is cleaned, as {@link ErrorText#clean} does (S5)
   * @param haltsKey whether later messages of its key wait until someone requeues or discards it
   */
  record Dead(String error, boolean haltsKey) implements Decision {
    public Dead {
      error = ErrorText.clean(error);
    }
  }

  /** The message was delivered. */
  static Decision delivered() {
    return new Delivered(new Result.Delivered(null));
  }

  /** The message was delivered, and the broker may have said where. */
  static Decision delivered(Result.Delivered result) {
    return new Delivered(result);
  }

  /** The message failed: it is due again after the delay, with one more attempt. */
  static Retry retry(Duration delay, String error) {
    return new Retry(delay, true, error);
  }

  /** The message could not be tried: it is due again after the delay, and no attempt counts. */
  static Retry retryUncounted(Duration delay, String error) {
    return new Retry(delay, false, error);
  }

  /** The message is a dead letter; later messages of its key go on. */
  static Dead dead(String error) {
    return new Dead(error, false);
  }

  /** The message is a dead letter; later messages of its key wait for a person's decision. */
  static Dead deadHaltingKey(String error) {
    return new Dead(error, true);
  }
}
