package dev.outbox.publisher.kafka;

import dev.outbox.spi.publisher.Result;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.BrokerNotAvailableException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.ControllerMovedException;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.errors.PrincipalDeserializationException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.SecurityDisabledException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownServerException;
import org.apache.kafka.common.errors.UnsupportedByAuthenticationException;
import org.apache.kafka.common.errors.UnsupportedCompressionTypeException;
import org.apache.kafka.common.errors.UnsupportedForMessageFormatException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.jspecify.annotations.Nullable;

/**
 * Results of what was not delivered, above all from exceptions of Kafka's client (P3). The table of
 * all of them is in docs/design/kafka.md, and a test compares it with this class.
 */
final class KafkaResults {
  private KafkaResults() {}

  /**
   * The broker has it.
   *
   * @param stored its text is the topic, the partition and the offset: {@code orders-3@1742}
   */
  static Result delivered(@Nullable RecordMetadata stored) {
    return stored == null ? Result.delivered() : Result.delivered(stored::toString);
  }

  /** The result that an exception means while a broker answers: then a timeout is the place's. */
  static Result result(Throwable error, Place place) {
    String text = text(error, place);
    if (isAboutTime(error)) {
      return Result.unavailable(
          text + "; this process's clock, or the topic's message.timestamp limits, are wrong",
          place.destination());
    }
    if (isRejected(error)) {
      return Result.rejected(text);
    }
    if (isProducersFault(error)) {
      return Result.unavailable(text);
    }
    boolean passes =
        error instanceof RetriableException && !(error instanceof CorruptRecordException);
    return passes || isWeather(error)
        ? Result.unavailable(text, place.destination())
        : Result.failed(text);
  }

  /**
   * A record's time is when it is sent, by this process's clock. Where that is wrong no message is
   * to blame, and another relay can send it. The client has only the words to tell it by when the
   * broker refused several records of a batch.
   */
  private static boolean isAboutTime(Throwable error) {
    return error instanceof InvalidTimestampException
        || (error instanceof InvalidRecordException
            && String.valueOf(error.getMessage()).startsWith("Timestamp "));
  }

  /** The broker will never take this record. */
  private static boolean isRejected(Throwable error) {
    return error instanceof RecordTooLargeException
        || error instanceof RecordBatchTooLargeException
        || error instanceof InvalidTopicException
        || error instanceof InvalidRecordException
        || error instanceof PolicyViolationException
        || error instanceof SerializationException;
  }

  /**
   * Errors that may pass and are no message's fault, although the client does not call them
   * retriable. For example, a broker that does not know a topic yet, or whose authorizer is down,
   * says that we are not authorised.
   */
  private static boolean isWeather(Throwable error) {
    return error instanceof TopicAuthorizationException
        || error instanceof UnknownServerException
        || error instanceof BrokerNotAvailableException
        || error instanceof ControllerMovedException
        || error instanceof InvalidReplicationFactorException
        || error instanceof OutOfOrderSequenceException
        || error instanceof PrincipalDeserializationException
        || error instanceof UnsupportedCompressionTypeException
        || error instanceof UnsupportedForMessageFormatException;
  }

  /**
   * The producer cannot be used any more; no message is to blame. A plain KafkaException has a
   * cause when the producer is in an error state, or cannot compress.
   */
  static boolean isProducersFault(Throwable error) {
    return isAuthentication(error)
        || error instanceof ClusterAuthorizationException
        || error instanceof InvalidProducerEpochException
        || error instanceof SecurityDisabledException
        || error instanceof UnsupportedByAuthenticationException
        || error instanceof UnsupportedVersionException
        || error instanceof IllegalStateException
        || (isGeneric(error) && error.getCause() != null);
  }

  /**
   * Whether the broker does not let us in. A producer that was made while that was so never works:
   * it does not ask for its id again.
   */
  static boolean isAuthentication(Throwable error) {
    for (Throwable e = error; e != null; e = e.getCause()) {
      if (e instanceof AuthenticationException) {
        return true;
      }
    }
    return false;
  }

  /** A plain KafkaException: a producer that was closed under a call throws no more than this. */
  static boolean isGeneric(Throwable error) {
    return error.getClass() == KafkaException.class;
  }

  static String text(Throwable error, Place place) {
    return "%s: %s: %s".formatted(place, error.getClass().getSimpleName(), error.getMessage());
  }
}
