package dev.outbox.publisher.kafka;

import dev.outbox.spi.publisher.Result;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * What is known of topics as a whole, across calls.
 *
 * <p>With {@code max.block.ms=0} a lookup never waits. It starts a request for the topic in the
 * background, by which some brokers create it, and returns what is known so far: the partitions, an
 * error as the exception's cause, or nothing yet.
 */
final class Topics {
  private static final int MOST = 10_000;

  /** Kafka's own rule. A client that is asked for another name logs an error with each look. */
  private static final Pattern NAME = Pattern.compile("(?!\\.{1,2}\\z)[a-zA-Z0-9._-]{1,249}");

  private final Timing timing;

  /** Since when the broker says that there is no such topic, in nanoseconds. */
  private final ConcurrentHashMap<String, Long> missing = new ConcurrentHashMap<>();

  /** When a record failed that had later ones of its key behind it, in nanoseconds. */
  private final ConcurrentHashMap<String, Long> risky = new ConcurrentHashMap<>();

  Topics(Timing timing) {
    this.timing = timing;
  }

  /** What a lookup says. */
  sealed interface Found {
    /** Records can be sent. */
    record Ready(int partitions) implements Found {}

    /** Nothing is known yet: look again. */
    record Pending() implements Found {}

    /** No record can be sent there now. */
    record Refused(Result result) implements Found {}

    /** The producer cannot be used. */
    record Unusable(Exception error) implements Found {}

    Found PENDING = new Pending();
  }

  Found look(Producer<?, ?> producer, String topic) {
    if (!NAME.matcher(topic).matches()) {
      return new Found.Refused(
          Result.rejected(
              "'%s' cannot be a topic: Kafka takes 1 to 249 of a-z, A-Z, 0-9, '.', '_' and '-', and not '.' or '..'; give messages of this aggregate type another destination"
                  .formatted(topic)));
    }
    try {
      int partitions = producer.partitionsFor(topic).size();
      if (partitions == 0) {
        return Found.PENDING;
      }
      missing.remove(topic);
      return new Found.Ready(partitions);
    } catch (InterruptException e) {
      throw e;
    } catch (TimeoutException e) {
      Throwable cause = e.getCause();
      if (cause == null) {
        return Found.PENDING;
      }
      if (cause instanceof RetriableException) {
        return missing(topic, cause);
      }
      return new Found.Refused(KafkaResults.result(cause, Place.topic(topic)));
    } catch (KafkaException | IllegalStateException e) {
      Result result = KafkaResults.result(e, Place.topic(topic));
      // Nothing was sent, so what is not the topic's fault is the producer's or the broker's.
      boolean ofTopic =
          result instanceof Result.Rejected
              || (result instanceof Result.Unavailable u && u.destination() != null);
      return ofTopic ? new Found.Refused(result) : new Found.Unusable(e);
    }
  }

  /** Brokers that create topics first say "unknown", so that is believed only after a second. */
  private Found missing(String topic, Throwable cause) {
    long now = System.nanoTime();
    if (missing.size() > MOST) {
      missing.clear();
    }
    Long since = missing.putIfAbsent(topic, now);
    if (since == null || now - since < timing.impatience()) {
      return Found.PENDING;
    }
    Place place = Place.topic(topic);
    return new Found.Refused(
        Result.unavailable(KafkaResults.text(cause, place), place.destination()));
  }

  /** A record failed, and the producer was closed to keep later ones of its key from passing. */
  void risky(String topic) {
    risky.values().removeIf(since -> !isRecent(since));
    risky.put(topic, System.nanoTime());
  }

  /** Whether only one record of a key may be in flight to it. */
  boolean isRisky(String topic) {
    Long since = risky.get(topic);
    return since != null && isRecent(since);
  }

  private boolean isRecent(long since) {
    return System.nanoTime() - since < timing.caution();
  }
}
