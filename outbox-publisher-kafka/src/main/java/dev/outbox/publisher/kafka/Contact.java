package dev.outbox.publisher.kafka;

import java.util.Optional;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.Metric;

/**
 * Whether the broker answers. A record that times out does not say whether its topic or the whole
 * broker is to blame; the bytes that came in from the broker in the meantime do: a producer in
 * trouble keeps asking.
 */
final class Contact {
  private final Optional<? extends Metric> incoming;
  private volatile double bytes;
  private volatile long heardAt;
  private volatile boolean heard;

  Contact(Producer<?, ?> producer) {
    incoming =
        producer.metrics().values().stream()
            .filter(m -> m.metricName().group().equals("producer-metrics"))
            .filter(m -> m.metricName().name().equals("incoming-byte-total"))
            .findFirst();
  }

  /** Takes notice of what came in; called often. Several threads at once do no harm. */
  void sample() {
    double now = incoming.map(m -> (Double) m.metricValue()).orElse(0.0);
    if (now != bytes) {
      bytes = now;
      heardAt = System.nanoTime();
      heard = true;
    }
  }

  /** Whether something came in within the last so many nanoseconds. */
  boolean heardWithin(long nanos) {
    return heard && System.nanoTime() - heardAt < nanos;
  }
}
