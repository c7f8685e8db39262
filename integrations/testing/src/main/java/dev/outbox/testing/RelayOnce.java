package dev.outbox.testing;

import static java.util.Objects.requireNonNull;

import dev.outbox.relay.Relay;
import dev.outbox.relay.RelayEvent;
import dev.outbox.relay.RelayListener;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.StoredMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A relay that runs once, in the calling thread: publishes everything that is due and says what
 * came of it. Messages that wait for a retry are not waited for; they come with a later run, once
 * they are due.
 *
 * <p>The static methods are enough in most tests; {@code outbox-spring-test} gives an object. Safe
 * for use by many threads.
 */
public final class RelayOnce {

  /**
   * What came of the messages, each list in the order of events; unmodifiable.
   *
   * @param delivered gone from the store
   * @param retried will be tried again; one that is due again at once may be here several times
   * @param expired gone from the store unpublished, because their time was over
   * @param dead dead letters now
   * @param unavailable broker or destination could not be reached; those whose destination could
   *     not are also in {@code retried}
   */
  public record Outcome(
      List<StoredMessage> delivered,
      List<StoredMessage> retried,
      List<StoredMessage> expired,
      List<StoredMessage> dead,
      List<StoredMessage> unavailable) {
    public Outcome {
      delivered = List.copyOf(delivered);
      retried = List.copyOf(retried);
      expired = List.copyOf(expired);
      dead = List.copyOf(dead);
      unavailable = List.copyOf(unavailable);
    }
  }

  private final Supplier<Relay.Builder> relays;

  private RelayOnce(Supplier<Relay.Builder> relays) {
    this.relays = relays;
  }

  /**
   * One that runs with the same settings each time.
   *
   * @param relays gives a new builder at each call
   */
  public static RelayOnce with(Supplier<Relay.Builder> relays) {
    return new RelayOnce(requireNonNull(relays, "relays"));
  }

  /** Runs once; otherwise as {@link #run(OutboxStore, MessagePublisher)}. */
  public Outcome run() {
    return run(relays.get());
  }

  /**
   * Runs with default settings.
   *
   * @throws RuntimeException what the store threw, if it did
   * @throws IllegalStateException when the calling thread is interrupted
   */
  public static Outcome run(OutboxStore<?> store, MessagePublisher publisher) {
    return run(Relay.builder(store, publisher).workers(1));
  }

  /** As {@link #run(OutboxStore, MessagePublisher)}, with settings. */
  public static Outcome run(Relay.Builder builder) {
    Events events = new Events();
    try (Relay relay = builder.listener(events).build()) {
      relay.runOnce();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while the relay ran", e);
    }
    if (events.failure != null) {
      throw events.failure;
    }
    return new Outcome(
        events.delivered, events.retried, events.expired, events.dead, events.unavailable);
  }

  /** Called only by the thread that runs the relay. */
  private static final class Events implements RelayListener {
    private final List<StoredMessage> delivered = new ArrayList<>();
    private final List<StoredMessage> retried = new ArrayList<>();
    private final List<StoredMessage> expired = new ArrayList<>();
    private final List<StoredMessage> dead = new ArrayList<>();
    private final List<StoredMessage> unavailable = new ArrayList<>();
    private @Nullable RuntimeException failure;

    @Override
    public void on(RelayEvent event) {
      if (event instanceof RelayEvent.Delivered e) {
        delivered.add(e.message());
      } else if (event instanceof RelayEvent.Retried e) {
        retried.add(e.message());
      } else if (event instanceof RelayEvent.Expired e) {
        expired.add(e.message());
      } else if (event instanceof RelayEvent.DeadLettered e) {
        dead.add(e.message());
      } else if (event instanceof RelayEvent.Unavailable e) {
        unavailable.add(e.message());
      } else if (event instanceof RelayEvent.StoreFailed e) {
        failure = failure == null ? e.error() : failure;
      }
    }
  }
}
