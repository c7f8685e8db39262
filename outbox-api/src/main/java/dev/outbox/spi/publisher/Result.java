package dev.outbox.spi.publisher;

import static java.util.Objects.requireNonNull;

import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What the publisher says of one message (P1, P3). Made by the methods of this interface. */
public sealed interface Result {

  /**
   * The broker has acknowledged the message durably.
   *
   * @param decision what the relay tells the store, with the broker's answer in it
   */
  record Delivered(Decision.Delivered decision) implements Result {
    public Delivered {
      requireNonNull(decision, "decision");
    }
  }

  /** Another try may help; it counts as an attempt. */
  record Failed(String error) implements Result {
    public Failed {
      requireNonNull(error, "error");
    }
  }

  /** The broker will never take the message, as when it is too large: a dead letter at once. */
  record Rejected(String error) implements Result {
    public Rejected {
      requireNonNull(error, "error");
    }
  }

  /**
   * The broker, or the message's destination, cannot be reached now. The message is tried again,
   * however long it takes, and no attempt counts.
   *
   * @param destination what cannot be reached, as a topic or queue, when others can; null when it
   *     is the broker as a whole
   * @param again after which time to publish this message again: the publisher still waits for its
   *     answer, or a limit lets it through then. Null: as soon as the relay likes
   */
  record Unavailable(String error, @Nullable String destination, @Nullable Duration again)
      implements Result {
    public Unavailable {
      requireNonNull(error, "error");
    }

    /** Without a time after which to publish the message again. */
    public Unavailable(String error, @Nullable String destination) {
      this(error, destination, null);
    }
  }

  /** The broker has acknowledged the message durably. */
  static Result delivered() {
    return new Delivered(Decision.delivered());
  }

  /**
   * The broker has acknowledged the message durably, and said where.
   *
   * @param answer gives the text for the archive, as {@code orders-3@1742}. It should hold little,
   *     and make its text only when it is asked
   */
  static Result delivered(Supplier<String> answer) {
    return new Delivered(Decision.delivered(answer));
  }

  /** Another try may help. */
  static Result failed(String error) {
    return new Failed(error);
  }

  /** No try will help: the message becomes a dead letter. */
  static Result rejected(String error) {
    return new Rejected(error);
  }

  /** The broker as a whole cannot be reached: the relay pauses. */
  static Result unavailable(String error) {
    return new Unavailable(error, null);
  }

  /** Only this destination cannot be reached: the relay goes on with the others. */
  static Result unavailable(String error, String destination) {
    return new Unavailable(error, requireNonNull(destination, "destination"));
  }

  /**
   * The message was not sent, because an earlier one of its key was not delivered (P2). It is
   * unavailable as that one is, or else for its own place only.
   *
   * @param earlier the message that was not delivered
   * @param why its result
   * @param destination where {@code earlier} was to go
   */
  static Result notSent(StoredMessage earlier, Result why, String destination) {
    String text =
        "not sent, because message %s of its key was not delivered".formatted(earlier.sequence());
    return why instanceof Unavailable unavailable
        ? new Unavailable(text, unavailable.destination())
        : unavailable(text, destination);
  }
}
