package dev.outbox.publisher.kafka;

import dev.outbox.publisher.core.SilentPlaces;
import dev.outbox.publisher.kafka.ProducerHolder.Connection;
import dev.outbox.publisher.kafka.Run.Item;
import java.util.concurrent.atomic.AtomicReference;

/** One record on its way through one producer, once. */
final class Sending {
  final Item item;
  final Run.Try partOf;
  final Connection via;
  final Place place;
  private final AtomicReference<State> state = new AtomicReference<>(State.UNDER_WAY);

  /** Whether the producer had no room for it; set and read by the thread that sends. */
  boolean noRoom;

  private enum State {
    UNDER_WAY,
    /** Its callback came, and told the call. */
    ENDED,
    /** The call gave up on it: its callback tells {@link SilentPlaces} only. */
    LEFT,
    /** The producer did not take it; a callback that comes anyway means nothing. */
    UNDONE
  }

  Sending(Item item, Connection via) {
    this.item = item;
    this.partOf = item.run.current;
    this.via = via;
    this.place = item.place();
  }

  /** False when the call gave up on it before. */
  boolean end() {
    return state.compareAndSet(State.UNDER_WAY, State.ENDED);
  }

  /** False when its callback was faster. */
  boolean leave() {
    return state.compareAndSet(State.UNDER_WAY, State.LEFT);
  }

  void undo() {
    state.set(State.UNDONE);
  }

  boolean isLeft() {
    return state.get() == State.LEFT;
  }
}
