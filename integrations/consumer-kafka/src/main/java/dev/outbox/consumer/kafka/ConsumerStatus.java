package dev.outbox.consumer.kafka;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The status of a {@link KafkaInboxConsumer}.
 *
 * @param since when it became so
 * @param error what it waits for to pass, or what has ended it; null in the other states
 */
public record ConsumerStatus(State state, Instant since, @Nullable Throwable error) {

  /** What a consumer does. */
  public enum State {
    /** It was not run yet, or is not a member of its group yet. */
    STARTING,
    /** It is a member of its group, and handles what it is given. */
    RUNNING,
    /** Kafka does not let it go on, as when a right is missing. It tries again by itself. */
    WAITING,
    /** It was closed, or its thread was interrupted. */
    STOPPED,
    /** It has ended by the error, and does not begin again by itself. */
    FAILED
  }
}
