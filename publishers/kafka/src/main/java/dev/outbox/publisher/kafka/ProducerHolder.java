package dev.outbox.publisher.kafka;

import dev.outbox.OutboxException;
import dev.outbox.PermanentOutboxException;
import dev.outbox.publisher.core.BackgroundTasks;
import java.time.Duration;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.Metric;
import org.jspecify.annotations.Nullable;

/**
 * A producer, and another one in its place once it has become unusable. Producers are made in the
 * background: that may take long, as when a host's name has no answer.
 */
final class ProducerHolder {
  /** The pause after a producer that the broker did not let in; doubled with each further one. */
  static final long FIRST_PAUSE = TimeUnit.SECONDS.toNanos(1);

  static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(10);

  private final Supplier<? extends Producer<byte[], byte[]>> maker;
  private final UnaryOperator<String> scrub;
  private final WallClock clock;
  private @Nullable CompletableFuture<Connection> current;
  private boolean closed;
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
   * The producer, made if need be; another one when the wall clock went back.
   *
   * @param patience how many nanoseconds to wait for it to be made
   * @throws OutboxException when there is none: Kafka's client refuses its settings, or takes too
   *     long, the broker does not let us in, or this is closed
   */
  Connection get(long patience) throws InterruptedException {
    CompletableFuture<Connection> made = made();
    try {
      Connection connection = made.get(patience, TimeUnit.NANOSECONDS);
      if (connection.stepsBack == clock.stepsBack()) {
        return connection;
      }
      connection.discard();
      return get(patience);
    } catch (TimeoutException e) {
      throw new PermanentOutboxException(
          "the Kafka producer is not made after %s ms: see whether the names in bootstrap.servers are found"
              .formatted(TimeUnit.NANOSECONDS.toMillis(patience)));
    } catch (ExecutionException e) {
      forget(made);
      throw new PermanentOutboxException(refused(e));
    }
  }

  private String refused(ExecutionException e) {
    return "the Kafka producer could not be made: " + scrub.apply(causes(e.getCause()));
  }

  /**
   * Makes the producer. That it takes longer than this is no error, nor that DNS does not know the
   * brokers yet: the next {@link #get} goes on.
   *
   * @param patience how long to wait, in nanoseconds
   * @throws IllegalArgumentException when Kafka's client refuses its settings
   */
  void start(long patience) {
    CompletableFuture<Connection> made = made();
    try {
      var unused = made.get(patience, TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      // the first call waits for it
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      forget(made);
      if (!isAboutUnknownHosts(e)) {
        throw new IllegalArgumentException(refused(e));
      }
    }
  }

  /** Recognised by the client's words, the same in all of its versions: it has nothing else. */
  private static boolean isAboutUnknownHosts(Throwable error) {
    return causes(error).contains("No resolvable bootstrap urls");
  }

  private synchronized CompletableFuture<Connection> made() {
    if (closed) {
      throw new PermanentOutboxException("the Kafka publisher is closed");
    }
    if (current != null) {
      return current;
    }
    long wait = pause == 0 ? 0 : notBefore - System.nanoTime();
    if (wait > 0) {
      throw new PermanentOutboxException(
          "the next Kafka producer is made in %s ms; the last one failed with %s"
              .formatted(TimeUnit.NANOSECONDS.toMillis(wait) + 1, reason));
    }
    current = BackgroundTasks.call("outbox-kafka-connect", this::make);
    return current;
  }

  private Connection make() {
    int stepsBack = clock.stepsBack(); // before the producer looks at the clock
    return new Connection(maker.get(), stepsBack);
  }

  private synchronized void forget(CompletableFuture<Connection> failed) {
    current = current == failed ? null : current;
  }

  private synchronized @Nullable Connection inUse() {
    return current == null || current.isCompletedExceptionally() ? null : current.getNow(null);
  }

  private synchronized boolean isCurrent(Connection connection) {
    return inUse() == connection;
  }

  /** Takes the producer out of use, if there is one; the next {@link #get} makes another. */
  void discard() {
    Connection last = inUse();
    if (last != null) {
      last.discard();
    }
  }

  /** Takes it out of use; returns false when it was not in use. */
  private synchronized boolean takeOut(Connection connection) {
    boolean inUse = isCurrent(connection);
    current = inUse ? null : current;
    return inUse;
  }

  private synchronized void failed(Connection connection, Throwable error) {
    if (isCurrent(connection) && KafkaResults.isAuthentication(error)) {
      boolean first = pause == 0 || connection.hasAcknowledged();
      pause = first ? FIRST_PAUSE : Math.min(2 * pause, LONGEST_PAUSE);
      notBefore = System.nanoTime() + pause;
      reason = scrub.apply(String.valueOf(error));
    }
  }

  /** A producer, and what was heard of the cluster through it. */
  final class Connection {
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

    /** Whether it is the one in use: false once it was retired or its holder was closed. */
    boolean isCurrent() {
      return ProducerHolder.this.isCurrent(this);
    }

    /**
     * Closes an unusable producer at once; the next {@link #get} makes another. When a callback
     * calls this, in the producer's sending thread, the producer sends nothing more.
     *
     * @return false when it was not the one in use
     */
    boolean retire() {
      boolean retired = takeOut(this);
      if (retired) {
        producer.close(Duration.ZERO);
      }
      return retired;
    }

    /** Takes it out of use, and closes it in the background: its sending thread may hang. */
    void discard() {
      if (takeOut(this)) {
        BackgroundTasks.run("outbox-kafka-close", () -> producer.close(Duration.ZERO));
      }
    }

    /**
     * Closes a useless producer; when the broker does not let it in, the next one is made later.
     */
    void giveUp(Throwable error) {
      failed(this, error);
      boolean ignored = retire();
    }
  }

  /** Closes the producer for good, within a time limit. */
  void close(Duration patience) {
    CompletableFuture<Connection> last;
    synchronized (this) {
      closed = true;
      last = current;
      current = null;
    }
    if (last != null && last.isDone() && !last.isCompletedExceptionally()) {
      last.join().producer().close(patience);
    } else if (last != null) {
      var unused = last.thenAccept(late -> late.producer().close(Duration.ZERO));
    }
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
