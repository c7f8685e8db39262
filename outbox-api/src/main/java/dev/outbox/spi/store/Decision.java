package dev.outbox.spi.store;

import static java.util.Objects.requireNonNull;

import dev.outbox.OutboxMessage;
import dev.outbox.Texts;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What the relay tells the store of one message (S2). Made by the methods of this interface. */
public sealed interface Decision {

  /**
   * Delivered: the message is gone. Two are equal whatever the broker answered, because the answer
   * is for people.
   *
   * @param source gives the broker's answer; asked only by a store that keeps it, in another thread
   *     and perhaps more than once; null: there is none
   */
  record Delivered(@Nullable Supplier<String> source) implements Decision {

    /**
     * What the broker answered, as {@code orders-3@1742}, cleaned as {@link Texts#clean} does;
     * null: nothing. Never fails: if the source does, the name of its error is the text.
     */
    public @Nullable String answer() {
      if (source == null) {
        return null;
      }
      try {
        String text = source.get();
        return text == null || text.isEmpty() ? null : Texts.clean(text);
      } catch (RuntimeException | LinkageError e) { // it is made late, of a client's own classes
        return Texts.clean("the answer cannot be told: " + e.getClass().getName());
      }
    }

    @Override
    public boolean equals(@Nullable Object o) {
      return o instanceof Delivered;
    }

    @Override
    public int hashCode() {
      return Delivered.class.hashCode();
    }

    @Override
    public String toString() {
      return "Delivered[]";
    }
  }

  /**
   * Due again after the delay; until then later messages of its key wait (O2).
   *
   * @param delay from 0 to {@link OutboxMessage#MAX_DELAY}: what is given is clamped (S5)
   * @param counts whether attempts goes up by one
   * @param error kept for people: what is given is cleaned, as {@link Texts#clean} does (S5)
   */
  record Retry(Duration delay, boolean counts, String error) implements Decision {
    public Retry {
      delay = clamp(delay);
      error = Texts.clean(error);
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
   * @param error kept for people: what is given is cleaned, as {@link Texts#clean} does (S5)
   * @param haltsKey whether later messages of its key wait until someone requeues or discards it
   */
  record Dead(String error, boolean haltsKey) implements Decision {
    public Dead {
      error = Texts.clean(error);
    }
  }

  /** Not published, because its time was over: the message is gone, and no dead letter (C10). */
  record Expired() implements Decision {

    /** What an archive has as its error. */
    public static final String ERROR = "it expired before it was published";
  }

  /** The message was delivered. */
  static Delivered delivered() {
    return new Delivered(null);
  }

  /** The message was delivered, and the broker says where. */
  static Delivered delivered(Supplier<String> answer) {
    return new Delivered(requireNonNull(answer, "answer"));
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

  /** The message's time was over: it was not published. Later messages of its key go on. */
  static Expired expired() {
    return new Expired();
  }
}
