package dev.outbox.spring;

import static java.util.Objects.requireNonNull;

import dev.outbox.publisher.core.BackgroundTasks;
import dev.outbox.relay.Relay;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.SmartLifecycle;

/**
 * Runs a relay as long as the application context runs. Each start builds a new relay, because one
 * that was closed cannot run again and a context can: tests of Spring stop and restart contexts.
 *
 * <p>Starts before the web server and the listeners of brokers and stops after them, so that what
 * they append last is still published. Safe for use by many threads.
 */
public final class OutboxRelay implements SmartLifecycle, DisposableBean {

  /** Of {@link #getPhase}: before the web server, whose phases are up to 2048 below the default. */
  public static final int PHASE = DEFAULT_PHASE - 4096;

  private final Supplier<Relay> relays;
  private volatile @Nullable Relay current;
  private @Nullable Relay starting;

  /**
   * Runs what the supplier builds.
   *
   * @param relays builds a new relay at each call
   */
  public OutboxRelay(Supplier<Relay> relays) {
    this.relays = requireNonNull(relays, "relays");
  }

  /**
   * Builds and starts a relay; does nothing when one runs or is being started.
   *
   * @throws IllegalArgumentException when a setting of the relay is refused
   * @throws dev.outbox.OutboxException as {@link Relay#start}
   * @throws IllegalStateException when it is stopped meanwhile
   */
  @Override
  public void start() {
    Relay relay = next();
    if (relay != null) {
      boolean runs = false;
      try {
        relay.start();
        runs = true;
      } finally {
        startEnded(relay, runs);
      }
    }
  }

  private synchronized @Nullable Relay next() {
    if (starting != null || current != null) {
      return null;
    }
    Relay relay = relays.get();
    starting = relay;
    return relay;
  }

  private synchronized void startEnded(Relay relay, boolean runs) {
    if (starting == relay) { // or else it was stopped
      starting = null;
      current = runs ? relay : null;
    }
  }

  /** Closes the relay, which takes its stop timeout at most; does nothing when none runs. */
  @Override
  public synchronized void stop() {
    Relay relay = starting != null ? starting : current;
    starting = null;
    current = null;
    if (relay != null) {
      relay.close();
    }
  }

  /** In a thread of its own, because Spring asks one bean after the other to stop. */
  @Override
  public void stop(Runnable callback) {
    BackgroundTasks.run(
        "outbox-relay-stop",
        () -> {
          try {
            stop();
          } finally {
            callback.run();
          }
        });
  }

  /** As {@link #stop()}: a context that does not come up stops nothing that it has started. */
  @Override
  public void destroy() {
    stop();
  }

  /** Whether it was started and not stopped. */
  @Override
  public boolean isRunning() {
    return current != null;
  }

  /** Whether it was started and all threads of its workers are alive. */
  public boolean isAlive() {
    Relay relay = current;
    return relay != null && relay.isAlive();
  }

  /** As {@link Relay#wake}, of the relay that runs; does nothing when none does. */
  public void wake() {
    Relay relay = current;
    if (relay != null) {
      relay.wake();
    }
  }

  @Override
  public int getPhase() {
    return PHASE;
  }
}
