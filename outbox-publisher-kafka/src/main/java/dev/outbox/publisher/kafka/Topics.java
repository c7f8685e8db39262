package dev.outbox.publisher.kafka;

import dev.outbox.spi.Result;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * What is known of topics across calls, so that one that is dead does not hold up the others.
 *
 * <p>With {@code max.block.ms=0} a lookup never waits: it starts a request for the topic in the
 * background, which also makes a broker create the topic where it does that, and says what is known
 * so far: the partitions, an error as the exception's cause, or nothing yet.
 */
final class Topics {
  private static final int MOST_TROUBLED = 10_000;

  private final Timing timing;
  private final boolean allRisky;
  private final ConcurrentHashMap<String, Trouble> troubled = new ConcurrentHashMap<>();

  /**
   * @param allRisky whether records of one key may go to different partitions
   */
  Topics(Timing timing, boolean allRisky) {
    this.timing = timing;
    this.allRisky = allRisky;
  }

  /** A topic with which something is not right. */
  private static final class Trouble {
    /** Since when the broker says that there is no such topic; 0: it does not. */
    volatile long missingSince;

    /** Whether it did not acknowledge in time the last time. */
    volatile boolean slow;

    /** When a record failed that later ones of its key were behind; 0: not lately. */
    volatile long riskySince;

    /** Records that a call gave up on and that are still on their way; changed in the map only. */
    final AtomicInteger stuck = new AtomicInteger();
  }

  /** What a lookup says. */
  sealed interface Found {
    /** Records can be sent. */
    record Ready() implements Found {}

    /** Nothing is known yet: look again. */
    record Pending() implements Found {}

    /** No record can be sent now. */
    record Refused(Result result) implements Found {}

    Found READY = new Ready();
    Found PENDING = new Pending();
  }

  Found look(Producer<?, ?> producer, String topic) {
    try {
      producer.partitionsFor(topic);
      Trouble trouble = troubled.get(topic);
      if (trouble != null) {
        trouble.missingSince = 0;
        forgetWhenWell(topic);
      }
      return Found.READY;
    } catch (TimeoutException e) {
      Throwable cause = e.getCause();
      if (cause == null) {
        return Found.PENDING;
      }
      if (!(cause instanceof RetriableException)) {
        return new Found.Refused(Results.result(cause, topic, true));
      }
      return missing(topic, cause);
    } catch (KafkaException | IllegalStateException e) {
      Result result = Results.result(e, topic, false);
      // Nothing was sent, so what is not the topic's fault is the producer's or the broker's.
      return new Found.Refused(
          result instanceof Result.Failed f ? Result.unavailable(f.error()) : result);
    }
  }

  /** A broker that creates topics says "unknown" first: so it is believed after a second. */
  private Found missing(String topic, Throwable cause) {
    long now = System.nanoTime();
    Trouble trouble = trouble(topic);
    if (trouble.missingSince == 0) {
      trouble.missingSince = now;
    }
    return now - trouble.missingSince < timing.impatience()
        ? Found.PENDING
        : new Found.Refused(Result.unavailable(Results.text(cause, topic), topic));
  }

  /** Whether records given up on are still on their way there. */
  boolean isStuck(String topic) {
    Trouble trouble = troubled.get(topic);
    return trouble != null && trouble.stuck.get() > 0;
  }

  /** How long to wait for it while the broker answers, in nanoseconds. */
  long patience(String topic) {
    Trouble trouble = troubled.get(topic);
    return trouble != null && trouble.slow ? timing.impatience() : timing.patience();
  }

  void slow(String topic) {
    trouble(topic).slow = true;
  }

  void acknowledged(String topic) {
    Trouble trouble = troubled.get(topic);
    if (trouble != null) {
      trouble.slow = false;
      forgetWhenWell(topic);
    }
  }

  /** A record failed, and the producer was closed to keep later ones of its key from passing. */
  void risky(String topic) {
    trouble(topic).riskySince = System.nanoTime();
  }

  /** Whether only one record of a key may be in flight to it. */
  boolean isRisky(String topic) {
    Trouble trouble = troubled.get(topic);
    return allRisky || (trouble != null && isRisky(trouble));
  }

  private boolean isRisky(Trouble trouble) {
    return trouble.riskySince != 0 && System.nanoTime() - trouble.riskySince < timing.caution();
  }

  /** A call gives up on a record: to be called before its callback can find that out. */
  void stuck(String topic) {
    troubled.compute(
        topic,
        (name, known) -> {
          Trouble trouble = known == null ? new Trouble() : known;
          trouble.stuck.incrementAndGet();
          return trouble;
        });
  }

  /** Such a record has ended. */
  void unstuck(String topic, boolean delivered) {
    troubled.computeIfPresent(
        topic,
        (name, trouble) -> {
          trouble.stuck.decrementAndGet();
          return trouble;
        });
    if (delivered) {
      acknowledged(topic);
    }
  }

  private Trouble trouble(String topic) {
    if (troubled.size() > MOST_TROUBLED) {
      troubled.values().removeIf(t -> t.stuck.get() == 0);
    }
    return troubled.computeIfAbsent(topic, name -> new Trouble());
  }

  private void forgetWhenWell(String topic) {
    troubled.computeIfPresent(
        topic,
        (name, t) -> t.stuck.get() > 0 || t.slow || t.missingSince != 0 || isRisky(t) ? t : null);
  }
}
