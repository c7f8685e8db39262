package dev.outbox.publisher.kafka;

import dev.outbox.publisher.kafka.ProducerHolder.Connection;
import dev.outbox.spi.publisher.Result;
import org.apache.kafka.common.errors.RetriableException;
import org.jspecify.annotations.Nullable;

/**
 * Says whether the cluster answers; for one call and one thread. A record that times out does not
 * say whether its topic or the whole cluster is to blame, but bytes that come in from any broker
 * meanwhile do. Silence says something only after a question. So when nothing comes in for a while,
 * the {@link Cluster} is asked.
 */
final class Liveness {
  private final Cluster cluster;
  private final long silence;
  private @Nullable Connection connection;
  private double before;
  private long heardAt;
  private long quietSince = System.nanoTime();
  private boolean heard;

  Liveness(Cluster cluster, Timing timing) {
    this.cluster = cluster;
    this.silence = timing.silence();
  }

  /** Takes notice of what came in, and asks when nothing did for long; called often. */
  void listen(Connection current) {
    double now = current.bytes();
    if (current != connection) {
      connection = current; // what came in before does not count: nobody knows when it did
    } else if (now != before) {
      heardAt = System.nanoTime();
      quietSince = heardAt;
      heard = true;
    }
    before = now;
    if (System.nanoTime() - quietSince > silence / 3) {
      ask();
    }
  }

  /** Asks, unless a broker was heard lately. */
  void ask() {
    if (!answers()) {
      var unused = cluster.ask();
    }
  }

  /** Whether any broker was heard lately. */
  boolean answers() {
    return (heard && System.nanoTime() - heardAt < silence) || cluster.answeredWithin(silence);
  }

  /**
   * The result of what could not be delivered in time: the place's fault when the broker answers.
   */
  Result outOfReach(Place place, String problem) {
    String text = "%s: %s".formatted(place, problem);
    return answers() ? Result.unavailable(text, place.destination()) : silent(text);
  }

  /**
   * The result of what could not even be asked in time. A producer that hears nothing while the
   * cluster answers is given up: it may wait for a broker that hangs, or, where the wall clock was
   * ahead for a moment, until that time comes again.
   */
  Result noAnswer(Place place) {
    if (!heard && connection != null && cluster.answeredWithin(silence)) {
      boolean ignored = connection.retire();
    }
    return outOfReach(place, "no answer about it in time");
  }

  /** The result of an exception of Kafka's client. */
  Result result(Throwable error, Place place) {
    Result result = KafkaResults.result(error, place);
    boolean timeout = error instanceof RetriableException && result instanceof Result.Unavailable;
    return timeout && !answers() ? silent(KafkaResults.text(error, place)) : result;
  }

  private Result silent(String text) {
    return Result.unavailable("%s; no broker of %s answers".formatted(text, cluster.address()));
  }
}
