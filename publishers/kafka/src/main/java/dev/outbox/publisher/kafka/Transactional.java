package dev.outbox.publisher.kafka;

import dev.outbox.publisher.core.Places;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;

/**
 * The transactional mode: a call's messages in one Kafka transaction. A transactional producer has
 * one transaction at a time, so each call under way has a producer to itself; they are kept for the
 * next calls. Topics are looked up through another producer, which never blocks and sends nothing.
 */
final class Transactional implements KafkaPublisher.Mode {
  final ProducerHolder lookup;
  final Cluster cluster;
  final Records records;
  final Topics topics;
  final Places<Place> places;
  final Timing timing;
  private final Function<String, ProducerHolder> producers;
  private final String idPrefix;
  private final ConcurrentLinkedDeque<Slot> idle = new ConcurrentLinkedDeque<>();
  private final AtomicInteger slots = new AtomicInteger();
  private volatile boolean closed;

  /** A transactional id with its producer; used by one call at a time. */
  static final class Slot {
    final ProducerHolder producer;
    private @Nullable Connection connection;
    private boolean initialised;

    Slot(ProducerHolder producer) {
      this.producer = producer;
    }

    /** The producer, ready to begin a transaction; ends what its predecessor left open. */
    Connection ready(long patience) throws InterruptedException {
      Connection ready = producer.get(patience);
      if (ready != connection || !initialised) {
        connection = ready;
        ready.producer().initTransactions();
        initialised = true;
      }
      return ready;
    }

    /**
     * After an error: aborts the transaction if asked to and possible, or gives the producer up.
     */
    void failed(Exception error, boolean abort) {
      if (Results.isProducersFault(error) && connection != null) {
        connection.giveUp(error);
        retire();
      } else {
        abortOrRetire(abort);
      }
    }

    /** Aborts the transaction if asked to and possible; otherwise retires the producer. */
    void abortOrRetire(boolean abort) {
      if (abort && initialised && connection != null) {
        try {
          connection.producer().abortTransaction();
          return;
        } catch (InterruptException e) {
          throw e;
        } catch (KafkaException | IllegalStateException e) {
          // it is of no use any more
        }
      }
      retire();
    }

    /** Gives the producer up; the broker ends its transaction when the next one starts. */
    void retire() {
      initialised = false;
      if (connection != null) {
        boolean ignored = connection.retire();
        connection = null;
      }
    }
  }

  Transactional(
      ProducerHolder lookup,
      Function<String, ProducerHolder> producers,
      String idPrefix,
      Cluster cluster,
      Records records,
      Timing timing) {
    this.lookup = lookup;
    this.producers = producers;
    this.idPrefix = idPrefix;
    this.cluster = cluster;
    this.records = records;
    this.timing = timing;
    this.topics = new Topics(timing);
    this.places = new Places<>(timing.patience(), timing.impatience(), Long.MAX_VALUE);
  }

  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    Slot slot = idle.pollFirst();
    if (slot == null) {
      slot = new Slot(producers.apply(idPrefix + "-" + slots.getAndIncrement()));
    }
    try {
      return new TransactionalCall(this, slot, messages).run();
    } finally {
      idle.addFirst(slot);
      if (closed) {
        closeIdle();
      }
    }
  }

  @Override
  public void close() {
    closed = true;
    lookup.close(Duration.ZERO);
    closeIdle();
  }

  private void closeIdle() {
    for (Slot slot = idle.poll(); slot != null; slot = idle.poll()) {
      slot.producer.close(Duration.ofNanos(timing.impatience()));
    }
  }
}
