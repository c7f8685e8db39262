package dev.outbox.publisher.kafka;

import static java.util.Objects.requireNonNull;

import dev.outbox.publisher.core.BackgroundTasks;
import dev.outbox.spi.store.Finding;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/**
 * Asks the cluster for a sign of life, by an admin client: a producer asks nothing while all its
 * records wait for one broker that hangs, and its own questions may wait there as well. Any
 * broker's answer will do. The client is made with the first question, and made anew after a
 * question that nobody answered, and when the wall clock went back.
 */
final class Cluster implements AutoCloseable {
  private final String address;
  private final Map<String, Object> settings;
  private final UnaryOperator<String> scrub;
  private final WallClock clock;
  private final Object questions = new Object();
  private volatile long answeredAt;
  private volatile boolean answered;
  private int stepsBack;
  private @Nullable CompletableFuture<Optional<String>> asking;
  private @Nullable Admin admin;
  private boolean closed;

  Cluster(ProducerSettings settings, WallClock clock) {
    this.address = settings.address();
    this.settings = settings.admin();
    this.scrub = settings::scrub;
    this.clock = clock;
    this.stepsBack = clock.stepsBack();
  }

  String address() {
    return address;
  }

  /** Asks in the background, unless a question is under way. Never waits, never throws. */
  CompletableFuture<Optional<String>> ask() {
    synchronized (questions) { // the monitor of this is held where a client is made
      int stepsNow = clock.stepsBack();
      if (stepsNow != stepsBack) {
        stepsBack = stepsNow;
        BackgroundTasks.run("outbox-kafka-cluster", this::giveUp); // and what it was asked
      }
      if (asking == null || asking.isDone()) {
        asking = BackgroundTasks.call("outbox-kafka-cluster", this::problem);
      }
      return asking;
    }
  }

  /** Whether any broker answered a question within the last so many nanoseconds. */
  boolean answeredWithin(long nanos) {
    return answered && System.nanoTime() - answeredAt < nanos;
  }

  /** Why the cluster cannot be reached; empty when a broker answered, as soon as one did. */
  Optional<String> unreachable(Duration limit) throws InterruptedException {
    long end = System.nanoTime() + limit.toNanos();
    Optional<String> silence = Optional.of(noAnswer());
    try {
      Optional<String> problem;
      do {
        problem = ask().get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
      } while (problem.equals(silence) && end - System.nanoTime() > 0);
      return problem;
    } catch (TimeoutException e) {
      return silence;
    } catch (ExecutionException e) {
      return Optional.of("asking Kafka at %s threw %s".formatted(address, e.getCause()));
    }
  }

  /** How these topics are. */
  List<Finding> findings(Set<String> topics, Duration limit) throws InterruptedException {
    try {
      return TopicFindings.of(admin(), topics, address, limit, scrub);
    } catch (KafkaException | IllegalStateException e) {
      return List.of(TopicFindings.notLookedAt(scrub(ProducerHolder.causes(e))));
    }
  }

  private String noAnswer() {
    return "Kafka at %s does not answer: check bootstrap.servers and security.protocol"
        .formatted(address);
  }

  private Optional<String> problem() {
    Admin asked = null;
    try {
      asked = admin();
      asked.describeCluster(new DescribeClusterOptions()).nodes().get();
    } catch (ExecutionException e) {
      Throwable error = e.getCause() == null ? e : e.getCause();
      if (error instanceof org.apache.kafka.common.errors.TimeoutException) {
        giveUp(requireNonNull(asked));
        return Optional.of(noAnswer());
      }
      if (KafkaResults.isAuthentication(error)) {
        return Optional.of(
            "Kafka at %s does not let us in: %s".formatted(address, scrub(error.getMessage())));
      }
      return Optional.of("Kafka at %s cannot be asked: %s".formatted(address, scrub("" + error)));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.of("asking Kafka at %s was interrupted".formatted(address));
    } catch (KafkaException | IllegalStateException e) {
      return Optional.of(
          "Kafka at %s cannot be asked: %s".formatted(address, scrub(ProducerHolder.causes(e))));
    }
    answeredAt = System.nanoTime();
    answered = true;
    return Optional.empty();
  }

  private String scrub(@Nullable String text) {
    return scrub.apply(String.valueOf(text));
  }

  private synchronized Admin admin() {
    if (closed) {
      throw new IllegalStateException("the Kafka publisher is closed");
    }
    if (admin == null) {
      admin = Admin.create(settings);
    }
    return admin;
  }

  /**
   * Gives up a client that got no answer. Kafka's client stays with a broker that takes a
   * connection and says nothing, even for minutes; a new client may begin with another broker.
   */
  private synchronized void giveUp(Admin mute) {
    if (admin == mute) {
      admin = null;
      BackgroundTasks.run("outbox-kafka-close", () -> mute.close(Duration.ZERO));
    }
  }

  private synchronized void giveUp() {
    if (admin != null) {
      giveUp(admin);
    }
  }

  @Override
  public void close() {
    BackgroundTasks.run("outbox-kafka-close", this::closeNow);
  }

  private synchronized void closeNow() {
    closed = true;
    giveUp();
  }
}
