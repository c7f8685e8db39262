package dev.outbox.dev.torture;

import dev.outbox.dev.broker.Source.Received;
import dev.outbox.dev.database.Work;
import java.util.UUID;

/**
 * A record that the broker has.
 *
 * @param partition with its topic
 */
public record Delivery(String partition, long offset, UUID id, String key, int nth) {

  static Delivery of(Received message) {
    return new Delivery(
        message.partition(),
        message.offset(),
        message.id(),
        message.key(),
        Work.nth(message.payload()));
  }
}
