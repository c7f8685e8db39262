package dev.outbox.consumer.kafka;

import dev.outbox.consumer.kafka.ConsumerStatus.State;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A consumer's status. Each change is told to the log and to the listener, once. */
final class Condition {
  private static final Logger log = LoggerFactory.getLogger(Condition.class);

  private final String name;
  private final Consumer<ConsumerStatus> listener;
  private volatile ConsumerStatus status = new ConsumerStatus(State.STARTING, Instant.now(), null);

  Condition(String name, Consumer<ConsumerStatus> listener) {
    this.name = name;
    this.listener = listener;
  }

  ConsumerStatus status() {
    return status;
  }

  void running() {
    ConsumerStatus was = status;
    if (was.state() != State.RUNNING) {
      become(State.RUNNING, null);
      if (was.state() == State.WAITING) {
        log.info(
            "Consumer {} goes on, after {} ms",
            name,
            Duration.between(was.since(), status.since()).toMillis());
      }
    }
  }

  /** Waits because of this; told once, as long as it is of the same kind. */
  void waiting(Throwable why) {
    Throwable known = status.error();
    if (known == null || known.getClass() != why.getClass()) {
      become(State.WAITING, why);
      log.warn("Consumer {} cannot go on, and tries again until it can", name, why);
    }
  }

  /** Unless it has failed. */
  void stopped() {
    if (status.state() != State.FAILED) {
      become(State.STOPPED, null);
    }
  }

  void failed(Throwable why) {
    become(State.FAILED, why);
    log.error("Consumer {} ends", name, why);
  }

  private void become(State state, @Nullable Throwable error) {
    ConsumerStatus now = new ConsumerStatus(state, Instant.now(), error);
    status = now;
    try {
      listener.accept(now);
    } catch (RuntimeException | Error e) { // it only listens
      log.warn("The listener of consumer {} threw at {}", name, now, e);
    }
  }
}
