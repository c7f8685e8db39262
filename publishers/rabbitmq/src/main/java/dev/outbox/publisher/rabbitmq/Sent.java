package dev.outbox.publisher.rabbitmq;

import dev.outbox.publisher.core.SilentPlaces;
import dev.outbox.publisher.rabbitmq.Run.Item;
import dev.outbox.spi.publisher.Result;
import java.util.concurrent.BlockingQueue;
import org.jspecify.annotations.Nullable;

/** A message on its way. Its end is told to its call, unless that has given up on it. */
final class Sent {
  final Item item;
  final Place place;
  private final BlockingQueue<End> ends;
  private final SilentPlaces<Place>.Passage way;

  /** Set and read by the thread that reads the connection. */
  private @Nullable String returned;

  enum Ended {
    CONFIRMED,
    REFUSED,
    /** The channel was closed first: nobody will say whether the broker took it. */
    LOST
  }

  /** How a message's way ended, and why where the broker refused it. */
  record End(Sent sent, Ended how, String why) {}

  Sent(Item item, Place place, BlockingQueue<End> ends, SilentPlaces<Place> places) {
    this.item = item;
    this.place = place;
    this.ends = ends;
    this.way = places.begin(place);
  }

  /** Holds no more than these, and nothing of the message. */
  Result delivered() {
    Place to = place;
    long tag = item.tag;
    return Result.delivered(() -> "%s, delivery tag %s".formatted(to.name(), tag));
  }

  /** The broker could not route it; that it confirms it afterwards means nothing. */
  void returned(String why) {
    returned = why;
  }

  void confirmed() {
    end(returned == null ? Ended.CONFIRMED : Ended.REFUSED, String.valueOf(returned));
  }

  void refused() {
    end(
        Ended.REFUSED,
        "the broker refused it (basic.nack), as when a queue is full or has lost its leader");
  }

  void lost() {
    end(Ended.LOST, "");
  }

  private void end(Ended how, String why) {
    if (way.end(how == Ended.CONFIRMED ? delivered() : null)) {
      ends.add(new End(this, how, why));
    }
  }

  /** Gives up on it, though its confirm may come late; false when its end is known already. */
  boolean leave() {
    return way.leave(item.message(), place.name());
  }
}
