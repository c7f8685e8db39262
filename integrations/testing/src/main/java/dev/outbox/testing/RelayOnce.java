package dev.outbox.testing;

import static java.util.Objects.requireNonNull;

import dev.outbox.relay.Relay;
import dev.outbox.relay.RelayEvent;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.StoredMessage;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;
import java.util.stream.Stream;

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
    Queue<RelayEvent> events = new ConcurrentLinkedQueue<>();
    try (Relay relay = builder.listener(events::add).build()) {
      relay.runOnce();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while the relay ran", e);
    }
    all(events, RelayEvent.StoreFailed.class)
        .findFirst()
        .ifPresent(
            failed -> {
              throw failed.error();
            });
    return new Outcome(
        all(events, RelayEvent.Delivered.class).map(RelayEvent.Delivered::message).toList(),
        all(events, RelayEvent.Retried.class).map(RelayEvent.Retried::message).toList(),
        all(events, RelayEvent.Expired.class).map(RelayEvent.Expired::message).toList(),
        all(events, RelayEvent.DeadLettered.class).map(RelayEvent.DeadLettered::message).toList(),
        all(events, RelayEvent.Unavailable.class).map(RelayEvent.Unavailable::message).toList());
  }

  private static <E extends RelayEvent> Stream<E> all(Queue<RelayEvent> events, Class<E> type) {
    return events.stream().filter(type::isInstance).map(type::cast);
  }
}
