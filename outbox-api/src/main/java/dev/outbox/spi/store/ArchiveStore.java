package dev.outbox.spi.store;

import static java.util.Objects.requireNonNull;

import dev.outbox.Appended;
import dev.outbox.Archive;
import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.PermanentOutboxException;
import dev.outbox.Texts;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A store that can keep the messages that leave it: each exactly once, in the transaction in which
 * it leaves (S7). It remembers beside them who decided about dead letters, who replayed messages,
 * and who paused what: an entry is written in the transaction of what it tells.
 */
public interface ArchiveStore extends DeadLetterStore {

  /** What this store keeps. Always the same; it does not connect. */
  Archive archive();

  /**
   * Whether the database has an archive, whatever this store was told to keep. A program that was
   * told nothing would leave a gap in it. Asks the database, unless this store keeps one.
   *
   * @return whether there is one; false, too, where this user may not read it, because some
   *     databases do not say then whether it is there
   * @throws dev.outbox.TransientOutboxException when the database cannot be asked now
   */
  default boolean hasArchive() {
    try {
      return archive() != Archive.NONE
          || archived(Search.between(Instant.EPOCH, Instant.EPOCH), 1).isEmpty();
    } catch (PermanentOutboxException e) {
      return false;
    }
  }

  /**
   * Archived messages, in the order in which they left the store; also what was archived before the
   * store was told to keep nothing. Without an index: all days of the search are read, up to the
   * limit.
   *
   * @param limit at least 1
   * @throws IllegalArgumentException when the limit is less
   * @throws dev.outbox.SchemaException when there is no archive
   */
  List<Archived> archived(Search search, int limit);

  /**
   * Appends archived messages again, in list order, in a transaction of the store's own: all of
   * them or none. They are new messages, with an id, a sequence and a time of their own, without
   * dedup key, delay and expiry; the header {@link Header#REPLAY_OF} says what they repeat.
   *
   * @param messages each {@link Archived#whole}; may be empty
   * @throws IllegalArgumentException when one is not whole or cannot be decoded, naming it; nothing
   *     was appended
   * @throws dev.outbox.OutboxException as {@link dev.outbox.Outbox#append}
   */
  Appended replay(List<Archived> messages, Who by);

  /**
   * The entries of the audit, in the order of their times.
   *
   * @param from the first moment that counts, by the store's clock
   * @param limit at least 1
   * @throws IllegalArgumentException when the limit is less
   */
  List<Entry> audit(Instant from, int limit);

  /** What was done. */
  enum Action {
    /** A dead letter was made due again. */
    REQUEUED,
    /** A dead letter was removed, or a message was cancelled before it was due. */
    DISCARDED,
    /** An archived message was appended again. */
    REPLAYED,
    /** An aggregate type was paused, or everything. */
    PAUSED,
    /** A pause was ended. */
    RESUMED
  }

  /**
   * One decision, about one message or an aggregate type.
   *
   * @param at by the store's clock
   * @param who as {@link Who#name}
   * @param reason as {@link Who#reason}
   * @param sequence the message's; of one that was replayed, the archived one's; 0: of none
   * @param id the message's, as the store has it, which need not be a UUID; of a pause the
   *     aggregate type, or empty where all was paused
   */
  record Entry(
      Instant at, Action action, String who, @Nullable String reason, long sequence, String id) {}

  /**
   * Who decides about messages by hand, for the audit.
   *
   * @param name not blank, at most {@value #MAX_NAME} code points; what no database stores is
   *     replaced
   * @param reason why, in that person's words, cleaned as {@link Texts#clean} does; null: not said
   */
  record Who(String name, @Nullable String reason) {

    /** The most code points of a name. */
    public static final int MAX_NAME = 255;

    /**
     * @throws IllegalArgumentException when the name is blank or too long
     */
    public Who {
      int length = requireNonNull(name, "name").codePointCount(0, name.length());
      if (name.isBlank() || length > MAX_NAME) {
        throw new IllegalArgumentException(
            "the name of who decides has %s characters, 1 to %s are needed, and not only spaces"
                .formatted(length, MAX_NAME));
      }
      name = Texts.clean(name);
      reason = reason == null ? null : Texts.clean(reason);
    }

    /** Somebody who says no reason. */
    public static Who named(String name) {
      return new Who(name, null);
    }
  }

  /** Why a message left. */
  enum Outcome {
    /** The broker has it. */
    DELIVERED,
    /** Somebody discarded it as a dead letter, or cancelled it before it was due. */
    DISCARDED,
    /**
     * Its time was over before it was published (C10), or it was a dead letter for longer than
     * those are kept: the error says which.
     */
    EXPIRED
  }

  /**
   * A message that left the store.
   *
   * @param message as the claim handed it out that settled it: its attempts are those that had
   *     failed. Where it is not {@code whole}, its payload is empty and it has no headers
   * @param whole whether payload and headers were kept
   * @param at when it left, by the store's clock; to the microsecond, or as the database has it
   * @param answer what the broker answered, as {@link Decision.Delivered#answer}; null: nothing
   * @param error the last error, of a dead letter; of an expired message {@link
   *     Decision.Expired#ERROR}; else null
   */
  record Archived(
      StoredMessage message,
      boolean whole,
      Instant at,
      Outcome outcome,
      @Nullable String answer,
      @Nullable String error) {

    /** Where it stands in the archive. */
    public Position position() {
      return new Position(at, message.sequence());
    }

    /**
     * For stores: the message that a replay appends.
     *
     * @throws IllegalArgumentException when it is not whole or cannot be decoded, or when one more
     *     header breaks a limit
     */
    public OutboxMessage again() {
      if (!whole || message.problem() != null) {
        throw new IllegalArgumentException(
            "message %s of %s cannot be replayed: %s"
                .formatted(
                    message.sequence(),
                    at,
                    whole
                        ? "it cannot be decoded, " + message.problem()
                        : "its payload was not archived, keep a full archive for that"));
      }
      OutboxMessage old = message.message();
      List<Header> headers = new ArrayList<>(old.headers());
      headers.removeIf(header -> header.name().equals(Header.REPLAY_OF));
      return OutboxMessage.builder()
          .aggregate(old.aggregateType(), old.aggregateId())
          .eventType(old.eventType())
          .partitionKey(old.partitionKey())
          .payload(old.payload())
          .contentType(old.contentType())
          .addHeaders(headers)
          .header(Header.REPLAY_OF, old.id().toString())
          .correlationId(old.correlationId())
          .maxAttempts(old.maxAttempts())
          .build();
    }
  }

  /** A place in the archive, for the next page; in the archive's order. */
  record Position(Instant at, long sequence) implements Comparable<Position> {
    private static final Comparator<Position> ORDER =
        Comparator.comparing(Position::at).thenComparing(Position::sequence);

    public Position {
      requireNonNull(at, "at");
    }

    /**
     * Reads what {@link #toString} gives.
     *
     * @throws IllegalArgumentException when the text is something else, saying what it must look
     *     like
     */
    public static Position parse(String text) {
      int slash = text.indexOf('/');
      try {
        return new Position(
            Instant.parse(text.substring(0, Math.max(slash, 0))),
            Long.parseLong(text.substring(slash + 1)));
      } catch (DateTimeParseException | NumberFormatException e) {
        throw new IllegalArgumentException(
            "'%s' is no position, it must look like 2026-11-22T10:00:00.123456Z/42".formatted(text),
            e);
      }
    }

    @Override
    public int compareTo(Position other) {
      return ORDER.compare(this, other);
    }

    /**
     * One word, with which a later process goes on: the time in ISO 8601, a slash, the sequence.
     */
    @Override
    public String toString() {
      return at + "/" + sequence;
    }
  }

  /**
   * Which archived messages are wanted; a field that is null excludes none.
   *
   * @param from the first moment at which they left, by the store's clock
   * @param to the first moment that does not count any more
   * @param outcome why they left
   * @param after the last of the page before
   */
  record Search(
      Instant from,
      Instant to,
      @Nullable String key,
      @Nullable String aggregateType,
      @Nullable String aggregateId,
      @Nullable String eventType,
      @Nullable UUID id,
      @Nullable Outcome outcome,
      @Nullable Position after) {
    public Search {
      requireNonNull(from, "from");
      requireNonNull(to, "to");
    }

    /** All that left from the first moment on and before the second. */
    public static Search between(Instant from, Instant to) {
      return new Search(from, to, null, null, null, null, null, null, null);
    }

    /**
     * Whether a message is one of these: for stores without a query language. Nothing but the key
     * is known of a message that cannot be decoded.
     */
    public boolean includes(Archived one) {
      StoredMessage stored = one.message();
      OutboxMessage message = stored.problem() == null ? stored.message() : null;
      return !one.at().isBefore(from)
          && one.at().isBefore(to)
          && is(key, stored.key())
          && is(aggregateType, message == null ? null : message.aggregateType())
          && is(aggregateId, message == null ? null : message.aggregateId())
          && is(eventType, message == null ? null : message.eventType())
          && is(id, message == null ? null : message.id())
          && is(outcome, one.outcome())
          && (after == null || one.position().compareTo(after) > 0);
    }

    private static boolean is(@Nullable Object wanted, @Nullable Object found) {
      return wanted == null || wanted.equals(found);
    }

    /** Only those of this {@link OutboxMessage#key}. */
    public Search key(@Nullable String newKey) {
      return new Search(
          from, to, newKey, aggregateType, aggregateId, eventType, id, outcome, after);
    }

    /** Only those of this aggregate type. */
    public Search aggregateType(@Nullable String newType) {
      return new Search(from, to, key, newType, aggregateId, eventType, id, outcome, after);
    }

    /** Only those of the aggregates with this id. */
    public Search aggregateId(@Nullable String newId) {
      return new Search(from, to, key, aggregateType, newId, eventType, id, outcome, after);
    }

    /** Only those of this event type. */
    public Search eventType(@Nullable String newType) {
      return new Search(from, to, key, aggregateType, aggregateId, newType, id, outcome, after);
    }

    /** Only those with this id. */
    public Search id(@Nullable UUID newId) {
      return new Search(
          from, to, key, aggregateType, aggregateId, eventType, newId, outcome, after);
    }

    /** Only those that left for this reason. */
    public Search outcome(@Nullable Outcome newOutcome) {
      return new Search(
          from, to, key, aggregateType, aggregateId, eventType, id, newOutcome, after);
    }

    /** Only those behind this one. */
    public Search after(@Nullable Position newAfter) {
      return new Search(
          from, to, key, aggregateType, aggregateId, eventType, id, outcome, newAfter);
    }
  }

  /**
   * For stores: refuses to write down who decides where there is no audit.
   *
   * @param by null: nobody is named, which needs none
   * @param archive what the store keeps
   */
  static void requireAudit(@Nullable Who by, Archive archive) {
    if (by != null && archive == Archive.NONE) {
      throw new PermanentOutboxException(
          "this store keeps no archive, and so no audit: make it with Archive.METADATA or"
              + " Archive.FULL, where it can keep one, or leave out who decides");
    }
  }

  /**
   * For stores.
   *
   * @return the limit
   * @throws IllegalArgumentException when the limit is less than 1
   */
  static int checked(int limit) {
    if (limit < 1) {
      throw new IllegalArgumentException("limit is " + limit + ", at least 1 is needed");
    }
    return limit;
  }
}
