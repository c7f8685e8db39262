package dev.outbox.relay;

import static java.util.Objects.requireNonNull;

import dev.outbox.spi.Decision;
import dev.outbox.spi.Result;
import dev.outbox.spi.StoredMessage;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** From one message's result to its decision (P3). */
final class Rules {
  private final Function<StoredMessage, RetryPolicy> policies;
  private final Predicate<StoredMessage> blocksKey;
  private final Destinations destinations;
  private final RelayListener listener;

  Rules(
      Function<StoredMessage, RetryPolicy> policies,
      Predicate<StoredMessage> blocksKey,
      Destinations destinations,
      RelayListener listener) {
    this.policies = policies;
    this.blocksKey = blocksKey;
    this.destinations = destinations;
    this.listener = listener;
  }

  /** The decision on a message that must not be published, or null when it may be. */
  @Nullable Decision beforePublishing(StoredMessage message) {
    String problem = message.problem();
    if (message.attempts() >= policy(message).maxAttempts()) {
      String last = problem != null ? problem : "the last ended without a result";
      return dead(message, "gave up after %d attempts; %s".formatted(message.attempts(), last));
    }
    return problem == null ? null : failed(message, problem);
  }

  /**
   * The decision that follows from a result; null: none, released as it was.
   *
   * @param evidence what the call's results say together
   */
  @Nullable Decision after(StoredMessage message, Result result, Evidence evidence, long now) {
    if (result instanceof Result.Delivered) {
      destinations.delivered(message.message().aggregateType(), now);
      return Decision.delivered();
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
    String type = message.message().aggregateType();
    String named = result.destination();
    if (named == null && isBrokerGone(evidence, now)) {
      listener.unavailable(message, result);
      return null;
    }
    String destination = named != null ? named : destinationOf(type);
    listener.unavailable(message, new Result.Unavailable(result.error(), destination));
    boolean partly = named == null && evidence.delivered().contains(type);
    Duration delay =
        partly ? Destinations.FIRST_DELAY : destinations.unavailable(destination, type, now);
    return Decision.retry(delay, false, result.error());
  }

  /**
   * Not while it takes others, and nothing but those that it did not answer on before is silent.
   */
  private boolean isBrokerGone(Evidence evidence, long now) {
    return evidence.delivered().isEmpty()
        && !evidence.silent().stream()
            .allMatch(type -> destinations.isAlone(destinationOf(type), now));
  }

  /** What stands for a destination where the publisher names none. */
  private static String destinationOf(String aggregateType) {
    return "the destination of aggregate type " + aggregateType;
  }

  private Decision failed(StoredMessage message, String error) {
    RetryPolicy policy = policy(message);
    int failed = message.attempts() + 1;
    return failed >= policy.maxAttempts()
        ? dead(message, error)
        : Decision.retry(policy.delay(failed), true, error);
  }

  private Decision dead(StoredMessage message, String error) {
    boolean blocks;
    try {
      blocks = blocksKey.test(message);
    } catch (Throwable e) {
      listener.callbackFailed("blockKeyWhenDead", message, Survival.asRuntimeException(e));
      blocks = true; // keeps the order of the key until someone decides
    }
    return Decision.dead(error, blocks);
  }

  private RetryPolicy policy(StoredMessage message) {
    try {
      return requireNonNull(policies.apply(message), "retryPolicy gave null");
    } catch (Throwable e) {
      listener.callbackFailed("retryPolicy", message, Survival.asRuntimeException(e));
      return RetryPolicy.ofDefaults();
    }
  }
}
