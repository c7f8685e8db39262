package dev.outbox.publisher.kafka;

import dev.outbox.spi.Result;
import dev.outbox.spi.StoredMessage;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.apache.kafka.common.errors.InvalidPidMappingException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.apache.kafka.common.errors.UnsupportedVersionException;

/** Results of what was not delivered, above all from exceptions of Kafka's client (P3). */
final class Results {
  private Results() {}

  /**
   * The result that an exception means.
   *
   * @param brokerAnswers whether the broker answers otherwise: then a timeout is the topic's fault
   */
  static Result result(Throwable error, String topic, boolean brokerAnswers) {
    String text = text(error, topic);
    if (isAboutTime(error)) {
      return Result.unavailable(
          text + "; this process's clock, or the topic's message.timestamp limits, are wrong",
          topic);
    }
    if (isRejected(error)) {
      return Result.rejected(text);
    }
    if (isProducersFault(error) || error instanceof AuthenticationException) {
      return Result.unavailable(text);
    }
    if (error instanceof RetriableException && !(error instanceof CorruptRecordException)) {
      return brokerAnswers ? Result.unavailable(text, topic) : Result.unavailable(text);
    }
    return Result.failed(text);
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
        || error instanceof TopicAuthorizationException
        || error instanceof InvalidRecordException
        || error instanceof PolicyViolationException
        || error instanceof SerializationException;
  }

  /** The producer cannot be used any more; no message is to blame. */
  static boolean isProducersFault(Throwable error) {
    return error instanceof ClusterAuthorizationException
        || error instanceof TransactionalIdAuthorizationException
        || error instanceof ProducerFencedException
        || error instanceof InvalidProducerEpochException
        || error instanceof InvalidPidMappingException
        || error instanceof UnsupportedVersionException
        || error instanceof IllegalStateException
        || (isGeneric(error) && error.getCause() != null && isProducersFault(error.getCause()));
  }

  /** That a message was not sent because an earlier one of its key was not delivered (P2). */
  static Result notSent(StoredMessage earlier, Result why, String topic) {
    String text =
        "not sent, because message %d of its key was not delivered".formatted(earlier.sequence());
    if (why instanceof Result.Unavailable unavailable && unavailable.destination() == null) {
      return Result.unavailable(text);
    }
    return Result.unavailable(text, topic);
  }

  /** Whether nothing says what this is; a producer that was closed under a call says no more. */
  static boolean isGeneric(Throwable error) {
    return error.getClass() == KafkaException.class;
  }

  static String text(Throwable error, String topic) {
    return "topic %s: %s: %s"
        .formatted(topic, error.getClass().getSimpleName(), error.getMessage());
  }
}
