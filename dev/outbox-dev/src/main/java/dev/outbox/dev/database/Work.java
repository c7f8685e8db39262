package dev.outbox.dev.database;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.OutboxMessage;
import dev.outbox.dev.broker.Broker;
import dev.outbox.spi.store.ArchiveStore.Outcome;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One message of the torture.
 *
 * @param nth its place among the committed messages of its key, by the business row's lock
 * @param kind what the broker thinks of it
 */
public record Work(UUID id, String key, int nth, Kind kind) {

  public enum Kind {
    /** Accepted sooner or later. */
    PLAIN,
    /** As PLAIN, but due later. */
    DELAYED,
    /** Has expired when it is appended, and is never published. */
    EXPIRED,
    /** Fails whenever it is tried, until its attempts are used up. */
    DOOMED,
    /** Larger than the topic allows: the broker rejects it. */
    TOO_LARGE,
    /** Rejected until somebody repairs it. */
    POISON,
    /** As POISON, and its key is blocked. */
    HALTING;

    /** Whether later messages of the key may be delivered first. */
    public boolean overtaken() {
      return this != PLAIN && this != HALTING;
    }

    /** Whether the broker rejects it, for ever or until it is repaired. */
    public boolean rejected() {
      return this == TOO_LARGE || this == POISON || this == HALTING;
    }

    /** Whether somebody can make the broker take it, once it is dead. */
    public boolean repairable() {
      return this != DOOMED && this != TOO_LARGE && this != EXPIRED;
    }
  }

  /**
   * One that a producer writes down in the transaction in which it appends it.
   *
   * @param dedup its dedup key
   * @param refused whether it was, as a duplicate
   */
  public record Appended(Work work, @Nullable String dedup, boolean refused) {
    String note() {
      return "%s %s %s %s %s %s"
          .formatted(work.id, work.key, work.nth, work.kind, refused, dedup == null ? "" : dedup);
    }

    static Appended of(String note) {
      String[] part = note.split(" ", 6);
      Work work =
          new Work(
              UUID.fromString(part[0]), part[1], Integer.parseInt(part[2]), Kind.valueOf(part[3]));
      return new Appended(work, part[5].isEmpty() ? null : part[5], Boolean.parseBoolean(part[4]));
    }
  }

  /** One that is left. */
  public record DeadLetter(UUID id, long sequence) {}

  /** One that has left the outbox, as the archive has it. */
  public record Archived(UUID id, Outcome outcome) {}

  /**
   * How many attempts a message has; a rejected one has none left at once. Ten were used up where
   * eight relays had troubles: a message died of them, and came after a later one when requeued.
   */
  private static final int ATTEMPTS = 30;

  /** The same of {@link Kind#DOOMED}. */
  private static final int DOOMED_ATTEMPTS = 3;

  /** Before the clock of any server, however it is shifted. */
  private static final Instant PAST = Instant.parse("2001-01-01T00:00:00Z");

  /** Its dead letters halt their keys. */
  public static final String HALTING_TOPIC = "type-2";

  /** A topic is an aggregate type, of which there are some, so that one can be out of reach. */
  public static final List<String> TOPICS = List.of("type-0", "type-1", HALTING_TOPIC);

  public static int attempts(Kind kind) {
    return kind == Kind.DOOMED ? DOOMED_ATTEMPTS : ATTEMPTS;
  }

  /** What messages of a key may be that never arrive by themselves. */
  public static List<Kind> rareKinds(String key) {
    return topic(key).equals(HALTING_TOPIC)
        ? List.of(Kind.HALTING)
        : List.of(Kind.DOOMED, Kind.TOO_LARGE, Kind.POISON);
  }

  private static String topic(String key) {
    return TOPICS.get(Math.floorMod(key.hashCode(), TOPICS.size()));
  }

  /** The payload begins with the number, and a space. */
  public static int nth(byte[] payload) {
    String text = new String(payload, 0, Math.min(payload.length, 12), UTF_8);
    return Integer.parseInt(text.substring(0, text.indexOf(' ')));
  }

  public OutboxMessage.Builder message() {
    return OutboxMessage.builder()
        .id(id)
        .aggregate(topic(key), key)
        .eventType(kind.name())
        .maxAttempts(kind == Kind.DOOMED ? DOOMED_ATTEMPTS : null)
        .expiresAt(kind == Kind.EXPIRED ? PAST : null)
        .payload(payload());
  }

  private byte[] payload() {
    byte[] number = (nth + " ").getBytes(UTF_8);
    return kind == Kind.TOO_LARGE ? Arrays.copyOf(number, 2 * Broker.MOST_BYTES) : number;
  }
}
