package dev.outbox.publisher.kafka;

import java.util.Optional;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.Metric;

/**
 * Whether the broker answers. A record that times out does not say whether its topic or the whole
 * broker is to blame; the bytes that come in from the broker in the meantime do: a producer in
 * trouble keeps asking.
 */
final class Contact {
  private final Optional<? extends Metric> incoming;

  Contact(Producer<?, ?> producer) {
    incoming =
        producer.metrics().values().stream()
            .filter(m -> m.metricName().group().equals("producer-metrics"))
            .filter(m -> m.metricName().name().equals("incoming-byte-total"))
            .findFirst();
  }

  /** Begins to listen; what came in before does not count, because nobody knows when it did. */
  Ear listen() {
    return new Ear(bytes());
  }

  private double bytes() {
    return incoming.map(m -> (Double) m.metricValue()).orElse(0.0);
  }

  /** One call's knowledge of it; for one thread. */
  final class Ear {
    private double before;
    private long heardAt;
    private boolean heard;

    private Ear(double before) {
      this.before = before;
    }

    /** Takes notice of what came in; called often. */
    void listen() {
      double now = bytes();
      if (now != before) {
        before = now;
        heardAt = System.nanoTime();
        heard = true;
      }
    }

    /** Whether something came in within the last so many nanoseconds. */
    boolean heardWithin(long nanos) {
      listen();
      return heard && System.nanoTime() - heardAt < nanos;
    }
  }
}
