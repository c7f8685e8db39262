package dev.outbox.publisher.kafka;

import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.kafka.ProducerHolder.Connection;
import dev.outbox.publisher.kafka.Run.Item;
import dev.outbox.publisher.kafka.Topics.Found;
import dev.outbox.spi.publisher.Result;
import java.util.HashMap;
import java.util.Map;

/** Says whether messages of one call can be sent now, and makes the records of those that can. */
final class Lookup {
  private final PublisherParts parts;
  private final Liveness liveness;
  private final long start = System.nanoTime();
  private final Map<String, Found> found = new HashMap<>();

  Lookup(PublisherParts parts, Liveness liveness) {
    this.parts = parts;
    this.liveness = liveness;
  }

  /** Forgets what was found, so that all is looked up again. */
  void refresh() {
    found.clear();
  }

  /** Looks up the item's topic, in the same connection at most once until {@link #refresh}. */
  Found find(Item item, Connection via) {
    try {
      if (item.topic == null) {
        item.topic = parts.records().destination().of(item.message());
      }
      Found is =
          item.alone
              ? parts.topics().look(via.producer(), item.topic)
              : found.computeIfAbsent(
                  item.topic, name -> parts.topics().look(via.producer(), name));
      if (is instanceof Found.Unusable unusable) {
        return unusable(item.place(), via, unusable.error());
      }
      if (is instanceof Found.Ready ready) {
        if (item.record == null) {
          item.record = parts.records().of(item.message(), item.topic, ready.partitions());
        }
        return reach(item.place(), ready);
      }
      return is;
    } catch (Destination.MissingException e) {
      return new Found.Refused(e.result());
    } catch (IllegalArgumentException e) {
      return new Found.Refused(Result.failed(String.valueOf(e.getMessage())));
    }
  }

  private Found reach(Place place, Found.Ready ready) {
    if (place.partition() >= ready.partitions()) {
      String text = "%s: the topic has %s partitions".formatted(place, ready.partitions());
      return new Found.Refused(Result.unavailable(text, place.destination()));
    }
    if (!parts.places().isStuck(place)) {
      return ready;
    }
    if (!liveness.answers() && System.nanoTime() - start <= parts.timing().silence()) {
      liveness.ask(); // so that the right one is blamed
      return Found.PENDING;
    }
    return new Found.Refused(liveness.outOfReach(place, "earlier records are still on their way"));
  }

  private static Found unusable(Place place, Connection via, Exception error) {
    if (!via.isCurrent()) {
      return Found.PENDING; // closed since: the next one will say more
    }
    via.giveUp(error);
    return new Found.Refused(Result.unavailable(KafkaResults.text(error, place)));
  }
}
