package dev.outbox.publisher.kafka;

import dev.outbox.OutboxException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/** A producer, and another one in its place once it has become unusable. */
final class ProducerHolder {
  private final Map<String, Object> settings;
  private final UnaryOperator<String> scrub;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable Connection current;
  private boolean closed;

  /** A producer and what was heard of the broker through it. */
  record Connection(Producer<byte[], byte[]> producer, Contact contact) {}

  ProducerHolder(Map<String, Object> settings, UnaryOperator<String> scrub) {
    this.settings = settings;
    this.scrub = scrub;
  }

  /**
   * The producer, made if need be.
   *
   * @throws OutboxException when Kafka's client refuses its settings, or when this is closed
   */
  Connection get() {
    lock.lock();
    try {
      if (closed) {
        throw new OutboxException("the Kafka publisher is closed");
      }
      if (current == null) {
        Producer<byte[], byte[]> producer = new KafkaProducer<>(settings);
        current = new Connection(producer, new Contact(producer));
      }
      return current;
    } catch (KafkaException e) {
      throw new OutboxException("the Kafka producer could not be made: " + scrub.apply(causes(e)));
    } finally {
      lock.unlock();
    }
  }

  /** Whether this connection is the one in use: false once it was retired or this was closed. */
  boolean isCurrent(Connection connection) {
    lock.lock();
    try {
      return current == connection;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Closes an unusable producer at once; the next {@link #get} makes another. Called by its own
   * sending thread, as from a callback, it has sent its last record.
   *
   * @return false when it was not the one in use
   */
  boolean retire(Connection connection) {
    lock.lock();
    try {
      if (current != connection) {
        return false;
      }
      current = null;
    } finally {
      lock.unlock();
    }
    connection.producer().close(Duration.ZERO);
    return true;
  }

  /**
   * Closes the producer for good; never without a limit, which an open transaction would use up.
   */
  void close(Duration patience) {
    Connection last;
    lock.lock();
    try {
      closed = true;
      last = current;
      current = null;
    } finally {
      lock.unlock();
    }
    if (last != null) {
      last.producer().close(patience);
    }
  }

  /** Without the exception itself, whose texts may hold a secret. */
  private static String causes(Throwable e) {
    StringBuilder text = new StringBuilder(String.valueOf(e.getMessage()));
    for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
      text.append(": ").append(cause.getMessage());
    }
    return text.toString();
  }
}
