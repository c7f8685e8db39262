package dev.outbox.publisher.kafka;

import java.util.Optional;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.Metric;

/** A producer, and what was heard of the cluster through it. */
final class Connection {
  private final ProducerHolder holder;
  private final Producer<byte[], byte[]> producer;
  private final int stepsBack;
  private final Optional<? extends Metric> incoming;
  private volatile boolean acknowledged;

  /**
   * Begins.
   *
   * @param stepsBack of the {@link WallClock}, when the producer was made
   */
  Connection(ProducerHolder holder, Producer<byte[], byte[]> producer, int stepsBack) {
    this.holder = holder;
    this.producer = producer;
    this.stepsBack = stepsBack;
    incoming =
        producer.metrics().values().stream()
            .filter(m -> m.metricName().group().equals("producer-metrics"))
            .filter(m -> m.metricName().name().equals("incoming-byte-total"))
            .findFirst();
  }

  Producer<byte[], byte[]> producer() {
    return producer;
  }

  /** See {@link #Connection}. */
  int stepsBack() {
    return stepsBack;
  }

  /** Whether it is the one in use: false once it was retired or its holder was closed. */
  boolean isCurrent() {
    return holder.isCurrent(this);
  }

  /** See {@link ProducerHolder#retire}. */
  boolean retire() {
    return holder.retire(this);
  }

  /** See {@link ProducerHolder#giveUp}. */
  void giveUp(Throwable error) {
    holder.giveUp(this, error);
  }

  /** The bytes that came in so far. */
  double bytes() {
    return incoming.map(m -> (Double) m.metricValue()).orElse(0.0);
  }

  void acknowledged() {
    acknowledged = true;
  }

  /** Whether it ever worked. */
  boolean hasAcknowledged() {
    return acknowledged;
  }
}
