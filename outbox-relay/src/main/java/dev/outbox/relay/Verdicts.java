package dev.outbox.relay;

import static java.util.Objects.requireNonNull;

import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Decides about each message: before it is published, and after by the publisher's result (P3). */
record Verdicts(
    String worker,
    Function<StoredMessage, RetryPolicy> policies,
    Predicate<StoredMessage> haltsKey,
    Destinations destinations,
    RelayListener listener) {

  /**
   * Says which dead letters halt their key: those of these types, and rows without a type, which
   * may be of any.
   */
  static Predicate<StoredMessage> haltingKeysOf(Set<String> types) {
    return message -> {
      String type = message.aggregateType();
      return type == null ? !types.isEmpty() : types.contains(type);
    };
  }

  /** The same, for one worker: the listener is told its name. */
  Verdicts by(String name) {
    return new Verdicts(name, policies, haltsKey, destinations, listener);
  }

  /** The decision on a message that must not be published, or null when it may be. */
  @Nullable Decision beforePublishing(StoredMessage message) {
    if (message.problem() != null) {
      return dead(message, message.problem()); // another try would read the same
    }
    if (message.expired()) {
      return Decision.expired();
    }
    return message.attempts() >= maxAttempts(message, policy(message))
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
    RetryPolicy policy = policy(message);
    int failed = message.attempts() + 1;
    return failed >= maxAttempts(message, policy)
        ? dead(message, error)
        : Decision.retry(policy.delay(failed), error);
  }

  private Decision dead(StoredMessage message, String error) {
    boolean halts;
    try {
      halts = haltsKey.test(message);
    } catch (Throwable e) {
      threw("haltKeyWhenDead", message, e);
      halts = true; // keeps the order of the key until someone decides
    }
    return halts ? Decision.deadHaltingKey(error) : Decision.dead(error);
  }

  /** The message's own limit, or else the policy's. */
  private static int maxAttempts(StoredMessage message, RetryPolicy policy) {
    Integer own = message.message().maxAttempts();
    return own != null ? own : policy.maxAttempts();
  }

  private RetryPolicy policy(StoredMessage message) {
    try {
      return requireNonNull(policies.apply(message), "retryPolicy gave null");
    } catch (Throwable e) {
      threw("retryPolicy", message, e);
      return RetryPolicy.ofDefaults();
    }
  }

  private void threw(String setting, StoredMessage message, Throwable e) {
    listener.on(
        new RelayEvent.CallbackFailed(
            worker, setting, message, SupervisedLoop.asRuntimeException(e)));
  }
}
