package dev.outbox.store.postgres.torture;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.OutboxMessage;
import java.time.Duration;
import java.util.UUID;

/**
 * One message of the torture.
 *
 * @param nth its place among the committed messages of its key, by the business row's lock
 * @param kind what the broker thinks of it
 */
record Work(UUID id, String key, int nth, Kind kind) {

  enum Kind {
    /** Accepted sooner or later. */
    PLAIN,
    /** As PLAIN, but due later. */
    DELAYED,
    /** Fails whenever it is tried, until its attempts are used up. */
    DOOMED,
    /** Rejected until somebody repairs it. */
    POISON,
    /** As POISON, and its key is blocked. */
    HALTING;

    /** Whether later messages of the key may be delivered first. */
    boolean overtaken() {
      return this == DELAYED || this == DOOMED || this == POISON;
    }
  }

  static final int DOOMED_ATTEMPTS = 3;
  static final Duration LONGEST_DELAY = Duration.ofSeconds(2);

  static Work of(OutboxMessage message) {
    return new Work(
        message.id(),
        message.key(),
        Integer.parseInt(new String(message.payload(), UTF_8)),
        Kind.valueOf(message.eventType()));
  }

  /** In one of three types, so that one of them can be out of reach. */
  OutboxMessage.Builder message() {
    return OutboxMessage.builder()
        .id(id)
        .aggregate("type-" + Math.floorMod(key.hashCode(), 3), key)
        .eventType(kind.name())
        .payload(Integer.toString(nth).getBytes(UTF_8));
  }
}
