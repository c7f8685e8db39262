package dev.outbox.publisher.kafka;

import dev.outbox.publisher.core.BackgroundTasks;
import dev.outbox.publisher.core.Reconnecting;
import dev.outbox.publisher.core.Reconnecting.NoConnectionException;
import java.time.Duration;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.Metric;
import org.jspecify.annotations.Nullable;

/**
 * A producer, and another one in its place once it has become unusable, or when the wall clock went
 * back.
 */
final class ProducerHolder {
  /** The pause after a producer that the broker did not let in; doubled with each further one. */
  static final long FIRST_PAUSE = TimeUnit.SECONDS.toNanos(1);

  static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(10);

  private final Supplier<? extends Producer<byte[], byte[]>> maker;
  private final UnaryOperator<String> scrub;
  private final WallClock clock;
  private final Reconnecting<Connection> producers =
      new Reconnecting<>("outbox-kafka", this::make, this::problem);
  private long pause;
  private long notBefore;
  private String reason = "";

  ProducerHolder(
      Supplier<? extends Producer<byte[], byte[]>> maker,
      UnaryOperator<String> scrub,
      WallClock clock) {
    this.maker = maker;
    this.scrub = scrub;
    this.clock = clock;
  }

  /**
   * The producer, made if need be.
   *
   * @param patience how many nanoseconds to wait for it to be made
   * @throws NoConnectionException when there is none: Kafka's client refuses its settings, or takes
   *     too long, the broker does not let us in, or this is closed
   */
  Connection get(long patience) throws NoConnectionException, InterruptedException {
    return producers.get(patience);
  }

  /**
   * Makes the producer. That it takes longer than this is no error, nor that DNS does not know the
   * brokers yet: the next {@link #get} goes on.
   *
   * @param patience how long to wait, in nanoseconds
   * @throws IllegalArgumentException when Kafka's client refuses its settings
   */
  void start(long patience) {
    try {
      var unused = producers.start().get(patience, TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      // the first call waits for it
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      if (!isAboutUnknownHosts(e)) {
        throw new IllegalArgumentException(problem(e.getCause()));
      }
    }
  }

  /** Recognised by the client's words, the same in all of its versions: it has nothing else. */
  private static boolean isAboutUnknownHosts(Throwable error) {
    return causes(error).contains("No resolvable bootstrap urls");
  }

  private Connection make() throws NoConnectionException {
    refuseInPause();
    int stepsBack = clock.stepsBack(); // before the producer looks at the clock
    return new Connection(maker.get(), stepsBack);
  }

  private synchronized void refuseInPause() throws NoConnectionException {
    long wait = pause == 0 ? 0 : notBefore - System.nanoTime();
    if (wait > 0) {
      throw new NoConnectionException(
          "the next Kafka producer is made in %s ms; the last one failed with %s"
              .formatted(TimeUnit.NANOSECONDS.toMillis(wait) + 1, reason));
    }
  }

  /** Why there is no producer; null: it was not made in time. */
  private String problem(@Nullable Throwable error) {
    return error == null
        ? "the Kafka producer is not made in time: see whether the names in bootstrap.servers are found"
        : "the Kafka producer could not be made: " + scrub.apply(causes(error));
  }

  /** Takes the producer out of use, if there is one; the next {@link #get} makes another. */
  void discard() {
    Connection last = producers.inUse();
    if (last != null) {
      producers.drop(last);
    }
  }

  private synchronized void failed(Connection connection, Throwable error) {
    if (connection.isCurrent() && KafkaResults.isAuthentication(error)) {
      boolean first = pause == 0 || connection.hasAcknowledged();
      pause = first ? FIRST_PAUSE : Math.min(2 * pause, LONGEST_PAUSE);
      notBefore = System.nanoTime() + pause;
      reason = scrub.apply(String.valueOf(error));
    }
  }

  /** A producer, and what was heard of the cluster through it. */
  final class Connection implements Reconnecting.Connection {
    private final Producer<byte[], byte[]> producer;
    private final int stepsBack;
    private final Optional<? extends Metric> incoming;
    private volatile boolean acknowledged;

    /**
     * @param stepsBack of the {@link WallClock}, when the producer was made
     */
    private Connection(Producer<byte[], byte[]> producer, int stepsBack) {
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

    /** False when the wall clock went back: then another one is made. */
    @Override
    public boolean isOpen() {
      return stepsBack == clock.stepsBack();
    }

    /** Whether it is the one in use: false once it was retired or its holder was closed. */
    boolean isCurrent() {
      return producers.inUse() == this;
    }

    /**
     * Closes an unusable producer at once; the next {@link #get} makes another. When a callback
     * calls this, in the producer's sending thread, the producer sends nothing more.
     *
     * @return false when it was not the one in use
     */
    boolean retire() {
      boolean retired = producers.takeOut(this);
      if (retired) {
        producer.close(Duration.ZERO);
      }
      return retired;
    }

    @Override
    public void close(long millis) {
      producer.close(Duration.ofMillis(millis));
    }

    /** In the background: its sending thread may hang. */
    @Override
    public void kill() {
      BackgroundTasks.run("outbox-kafka-close", () -> close(0));
    }

    /**
     * Closes a useless producer; when the broker does not let it in, the next one is made later.
     */
    void giveUp(Throwable error) {
      failed(this, error);
      boolean ignored = retire();
    }
  }

  /** Closes the producer for good, in good order within so many milliseconds; 0: at once. */
  void close(long millis) {
    producers.close(millis);
  }

  /** The causes without the exception itself, whose text may hold a secret. */
  static String causes(@Nullable Throwable e) {
    StringJoiner text = new StringJoiner(": ").setEmptyValue("unknown");
    for (Throwable one = e; one != null; one = one.getCause()) {
      text.add(one.getMessage());
    }
    return text.toString();
  }
}
