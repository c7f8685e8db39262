package dev.outbox.relay;

import dev.outbox.spi.Decision;
import dev.outbox.spi.ReachablePublisher;
import dev.outbox.spi.Result;
import dev.outbox.spi.StoredMessage;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Told of everything that happens in a relay: for logs, metrics and tests. Each method is one
 * event; all do nothing by default.
 *
 * <p>Called by the relay's own threads, by several at the same time, and the relay goes on only
 * after the call: be quick. What a listener throws is logged and changes nothing.
 */
public interface RelayListener {

  /** The relay's workers run from now on. */
  default void started(String relay, int workers) {}

  /**
   * A claim brought messages.
   *
   * @param messages not empty; some may have a {@link StoredMessage#problem()}
   * @param took how long the store needed
   */
  default void claimed(String worker, List<StoredMessage> messages, Duration took) {}

  /**
   * The publisher is done with messages, whatever the results.
   *
   * @param took how long it needed
   */
  default void published(String worker, List<StoredMessage> messages, Duration took) {}

  /** A message was delivered, and the store knows. */
  default void delivered(StoredMessage message) {}

  /** A message will be tried again, and the store knows. */
  default void retried(StoredMessage message, Decision.Retry decision) {}

  /** A message became a dead letter, and the store knows. */
  default void deadLettered(StoredMessage message, Decision.Dead decision) {}

  /** The publisher could not reach the broker, or this message's destination, for now. */
  default void unavailable(StoredMessage message, Result.Unavailable result) {}

  /**
   * The lease of these messages was lost: another relay has them, or will. Nothing was changed in
   * the store; what was delivered may be delivered again. Also told when a settle was carried out
   * but its reply was lost.
   */
  default void leaseLost(String worker, List<StoredMessage> messages) {}

  /**
   * A claim was left to its lease without being settled, because the publisher did not return or
   * the store did not answer. The messages are claimed again when the lease has run out.
   */
  default void abandoned(String worker, List<StoredMessage> messages, String reason) {}

  /**
   * The publisher broke its contract: threw, did not return in time, gave a wrong number of results
   * (P1), or delivered a message after an earlier one of its key that was not delivered (P2).
   *
   * @param cause what it threw, or null
   */
  default void publisherBroken(String worker, String problem, @Nullable Throwable cause) {}

  /**
   * The process, or its machine, stood still while a worker waited for the publisher: it was
   * stopped, suspended or out of memory. The publisher gets the time once more.
   */
  default void stoodStill(String worker, Duration time) {}

  /** The broker answered when it was asked at the start; see {@link ReachablePublisher}. */
  default void brokerReachable(String address) {}

  /** The broker did not answer when it was asked at the start; it is asked again. */
  default void brokerUnreachable(String address, String error) {}

  /** The broker as a whole cannot be reached: all workers pause, and try with few messages. */
  default void breakerOpened(String error) {}

  /** The broker can be reached again. */
  default void breakerClosed() {}

  /**
   * The store threw.
   *
   * @param who a worker's name, or the relay's for housekeeping and listening
   * @param operation claim, renew, settle, housekeep or listen; work when it is not known which
   */
  default void storeFailed(String who, String operation, RuntimeException error) {}

  /** A settle worked again for this worker, after {@link #storeFailed} on claim or settle. */
  default void storeRecovered(String worker) {}

  /**
   * A function that the application gave to the relay threw or returned null.
   *
   * @param setting retryPolicy or blockKeyWhenDead
   */
  default void callbackFailed(String setting, StoredMessage message, RuntimeException error) {}

  /**
   * The relay has stopped.
   *
   * @param unfinished how many of its threads were still inside the store or the publisher when the
   *     time to stop was over; 0 as a rule. What they hold is claimed again after the lease
   */
  default void stopped(String relay, int unfinished) {}
}
