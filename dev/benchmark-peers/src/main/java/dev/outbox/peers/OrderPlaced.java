package dev.outbox.peers;

import org.springframework.modulith.events.Externalized;

/**
 * The message of all contenders, as JSON some 200 bytes long.
 *
 * @param number of its key, from 0; in this order its key's messages are committed
 */
@Externalized("orders::#{#this.key()}")
public record OrderPlaced(String key, int number, String text) {
  private static final String TEXT = "x".repeat(150);

  static OrderPlaced of(String key, int number) {
    return new OrderPlaced(key, number, TEXT);
  }

  /** As no other message of a run is called. */
  String id() {
    return key + "/" + number;
  }
}
