package dev.outbox.relay;

import dev.outbox.TransientOutboxException;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.PauseStore.Pause;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link RelayListener} is told. Made by the relay. A later version may add events, and
 * components to an event.
 */
public sealed interface RelayEvent {

  /** To whom it happened: a worker's name, as {@code host-17/0}, or the relay's. */
  String who();

  /**
   * The relay's workers run from now on.
   *
   * @param workers how many
   * @param place where the store found its tables; null when it does not say
   */
  record Started(String who, int workers, @Nullable String place) implements RelayEvent {}

  /**
   * A claim brought messages.
   *
   * @param messages not empty; some may have a {@link StoredMessage#problem()}
   * @param took how long the store needed
   */
  record Claimed(String who, List<StoredMessage> messages, Duration took) implements RelayEvent {}

  /**
   * The publisher is done with messages, whatever the results.
   *
   * @param took how long it needed
   */
  record Published(String who, List<StoredMessage> messages, Duration took) implements RelayEvent {}

  /** A message was delivered, and the store knows. */
  record Delivered(String who, StoredMessage message) implements RelayEvent {}

  /** A message's time was over before it was published: it is gone, and the store knows. */
  record Expired(String who, StoredMessage message) implements RelayEvent {}

  /** A message will be tried again, and the store knows. */
  record Retried(String who, StoredMessage message, Decision.Retry decision)
      implements RelayEvent {}

  /** A message became a dead letter, and the store knows. */
  record DeadLettered(
      String who, StoredMessage message, Decision.Dead decision, DeadLetterReason reason)
      implements RelayEvent {}

  /** Why a message became a dead letter; the decision's error has the details. */
  enum DeadLetterReason {
    /** The publisher said that the broker will never take it. */
    REJECTED,
    /** The attempts that it had are used up. */
    EXHAUSTED,
    /** Its row cannot be decoded; see {@link StoredMessage#problem()}. */
    UNDECODABLE
  }

  /** The publisher could not reach the broker, or this message's destination, for now. */
  record Unavailable(String who, StoredMessage message, Result.Unavailable result)
      implements RelayEvent {}

  /**
   * The publisher said after which time to publish this message again: its destination is slow, or
   * has a limit.
   */
  record Postponed(String who, StoredMessage message, Result.Unavailable result)
      implements RelayEvent {}

  /**
   * The lease of these messages was lost: another relay has them, or will. Nothing was changed in
   * the store; what was delivered may be delivered again. Also told when a settle was carried out
   * but its reply was lost.
   */
  record LeaseLost(String who, List<StoredMessage> messages) implements RelayEvent {}

  /**
   * A claim was left to its lease without being settled, because the publisher did not return or
   * each settle failed. The messages are claimed again when the lease has run out.
   */
  record Abandoned(String who, List<StoredMessage> messages, String reason) implements RelayEvent {}

  /**
   * The publisher broke its contract: threw, did not return in time, gave a wrong number of results
   * (P1), or delivered a message after an earlier one of its key that was not delivered (P2).
   *
   * @param cause what it threw, or null
   */
  record PublisherBroken(String who, String problem, @Nullable Throwable cause)
      implements RelayEvent {}

  /**
   * The process, or its machine, stood still while a worker waited for the publisher: it was
   * stopped, suspended or out of memory. The publisher gets the time once more.
   */
  record StoodStill(String who, Duration time) implements RelayEvent {}

  /**
   * The broker answered when it was asked at the start; see {@link MessagePublisher#unreachable}.
   */
  record BrokerReachable(String who, String address) implements RelayEvent {}

  /** The broker did not answer when it was asked at the start; it is asked again. */
  record BrokerUnreachable(String who, String address, String error) implements RelayEvent {}

  /** The broker as a whole cannot be reached: all workers pause, and try with few messages. */
  record BreakerOpened(String who, String error) implements RelayEvent {}

  /** The broker can be reached again. */
  record BreakerClosed(String who) implements RelayEvent {}

  /**
   * The relay has seen that an operator paused something, or paused it again for another reason:
   * nothing of it is published.
   */
  record Paused(String who, Pause pause) implements RelayEvent {}

  /**
   * The relay has seen that an operator resumed something.
   *
   * @param pause which one is over
   */
  record Resumed(String who, Pause pause) implements RelayEvent {}

  /**
   * The store threw.
   *
   * @param operation claim, renew, settle, hold or let go (of keys), pauses (what operators have
   *     paused) or housekeep; work when it is not known which
   */
  record StoreFailed(String who, String operation, RuntimeException error) implements RelayEvent {
    private static final Set<String> STOPPING = Set.of("claim", "settle", "work", "pauses");

    /**
     * Whether trying again will not help, as where a right is missing. When a claim or settle fails
     * so, this worker publishes nothing until somebody puts it right; it goes on trying.
     */
    public boolean isPermanent() {
      // An error, as that memory is used up, says nothing of the store.
      return !(error instanceof TransientOutboxException || error.getCause() instanceof Error);
    }

    /** Whether the worker publishes nothing while this lasts; {@link StoreRecovered} ends it. */
    public boolean stopsWork() {
      return STOPPING.contains(operation);
    }
  }

  /**
   * The store works again for this worker, after a {@link StoreFailed} that {@link
   * StoreFailed#stopsWork}. When a settle with decisions had failed, one without any shows it only
   * a minute later; when it had failed for good ({@link StoreFailed#isPermanent}), never.
   */
  record StoreRecovered(String who) implements RelayEvent {}

  /**
   * The relay has stopped.
   *
   * @param unfinished how many of its threads were still inside the store or the publisher when the
   *     time to stop was over; 0 as a rule. What they hold is claimed again after the lease
   */
  record Stopped(String who, int unfinished) implements RelayEvent {}
}
