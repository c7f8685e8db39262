package dev.outbox.publisher.kafka;

import dev.outbox.publisher.core.SilentPlaces;
import dev.outbox.publisher.kafka.ProducerHolder.Connection;
import dev.outbox.publisher.kafka.Run.Item;

/** One record on its way through one producer, once. */
final class Sending {
  final Item item;
  final Run.Try partOf;
  final Connection via;
  final Place place;
  final SilentPlaces<Place>.Passage way;

  /** Whether the producer had no room for it; set and read by the thread that sends. */
  boolean noRoom;

  Sending(Item item, Connection via, SilentPlaces<Place> places) {
    this.item = item;
    this.partOf = item.run.current;
    this.via = via;
    this.place = item.place();
    this.way = places.begin(place);
  }

  /** Leaves it to its callback; false when that was faster and its report is waiting. */
  boolean leave() {
    return way.leave(item.message(), place.destination());
  }
}
