package dev.outbox.publisher.kafka;

import dev.outbox.publisher.core.SilentPlaces;
import dev.outbox.publisher.kafka.ProducerHolder.Connection;
import dev.outbox.publisher.kafka.Run.Item;
import dev.outbox.spi.publisher.Result;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One record on its way through one producer, once. */
final class Sending {
  final Item item;
  final Run.Try partOf;
  final Connection via;
  final Place place;
  final SilentPlaces<Place>.Passage way;

  /** Completes when the call has given up on it; null: it was not acknowledged. */
  final CompletableFuture<@Nullable Result> late = new CompletableFuture<>();

  /** Whether the producer had no room for it; set and read by the thread that sends. */
  boolean noRoom;

  Sending(Item item, Connection via, SilentPlaces<Place> places) {
    this.item = item;
    this.partOf = item.run.current;
    this.via = via;
    this.place = item.place();
    this.way = places.begin(place);
  }
}
