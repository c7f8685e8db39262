package dev.outbox.relay;

import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decides about each message: before it is published, and after by the publisher's result (P3).
 *
 * @param halting aggregate types whose dead letters halt their key
 */
record Verdicts(
    String worker,
    RetryPolicy policy,
    Set<String> halting,
    Destinations destinations,
    RelayListener listener) {

  /** The same, for one worker: the listener is told its name. */
  Verdicts by(String name) {
    return new Verdicts(name, policy, halting, destinations, listener);
  }

  /** The decision on a message that must not be published, or null when it may be. */
  @Nullable Decision beforePublishing(StoredMessage message) {
    if (message.problem() != null) {
      return dead(message, message.problem()); // another try would read the same
    }
    if (message.expired()) {
      return Decision.expired();
    }
    return message.attempts() >= maxAttempts(message)
        ? dead(
            message,
            "gave up after %s attempts; the last ended without a result"
                .formatted(message.attempts()))
        : null;
  }

  /**
   * The decision that follows from a result; null: none, and the message is released as it was.
   *
   * @param evidence what the call's results say together
   */
  @Nullable Decision after(StoredMessage message, Result result, Evidence evidence, long now) {
    if (result instanceof Result.Delivered delivered) {
      destinations.delivered(message.message().aggregateType(), message.sequence(), now);
      return delivered.decision();
    }
    if (result instanceof Result.Failed failed) {
      return failed(message, failed.error());
    }
    if (result instanceof Result.Rejected rejected) {
      return dead(message, rejected.error());
    }
    return unavailable(message, (Result.Unavailable) result, evidence, now);
  }

  private @Nullable Decision unavailable(
      StoredMessage message, Result.Unavailable result, Evidence evidence, long now) {
    if (result.again() != null) { // slow or limited, and not in trouble as far as is known
      listener.on(new RelayEvent.Postponed(worker, message, result));
      return Decision.retryUncounted(result.again(), result.error());
    }
    String type = message.message().aggregateType();
    String named = result.destination();
    if (named == null && isBrokerGone(evidence, now)) {
      listener.on(new RelayEvent.Unavailable(worker, message, result));
      return null;
    }
    String destination = named != null ? named : destinationOf(type);
    listener.on(
        new RelayEvent.Unavailable(
            worker, message, new Result.Unavailable(result.error(), destination)));
    boolean partly = named == null && evidence.delivered().contains(type);
    Duration delay =
        partly
            ? Destinations.FIRST_DELAY
            : destinations.unavailable(destination, type, message.sequence(), now);
    return Decision.retryUncounted(delay, result.error());
  }

  /**
   * False when the call delivered something, or all silent types are known to be in trouble alone.
   */
  private boolean isBrokerGone(Evidence evidence, long now) {
    return evidence.delivered().isEmpty()
        && !evidence.silent().stream()
            .allMatch(type -> destinations.isAlone(destinationOf(type), now));
  }

  /** The name of a destination where the publisher names none. */
  private static String destinationOf(String aggregateType) {
    return "the destination of aggregate type " + aggregateType;
  }

  private Decision failed(StoredMessage message, String error) {
    int failed = message.attempts() + 1;
    return failed >= maxAttempts(message)
        ? dead(message, error)
        : Decision.retry(policy.delay(failed), error);
  }

  /** A row without a type may be of any. */
  private Decision dead(StoredMessage message, String error) {
    String type = message.aggregateType();
    boolean halts = type == null ? !halting.isEmpty() : halting.contains(type);
    return halts ? Decision.deadHaltingKey(error) : Decision.dead(error);
  }

  /** The message's own limit, or else the policy's. */
  private int maxAttempts(StoredMessage message) {
    Integer own = message.message().maxAttempts();
    return own != null ? own : policy.maxAttempts();
  }
}
