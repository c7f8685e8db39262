package dev.outbox.spi.store;

import static java.util.Objects.requireNonNull;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A store in which somebody can look for messages and keys: for commands and pages. It changes
 * nothing, takes no lock that a relay or a producer waits for, and needs only the right to read.
 * What a call reads is bounded, whatever waits (F2): ask for the next page.
 */
public interface InspectionStore {

  /** The most messages that one page reads, whether they are asked for or not. */
  int MOST_READ = 10_000;

  /** The most that is counted behind a key. */
  int MOST_BEHIND = 1_000;

  /** Messages in the order of their sequences, without payload and headers. */
  Page<Listed> messages(Query query);

  /**
   * One message, whole.
   *
   * @return nothing when there is no such message, or when it is gone
   */
  Optional<Inspected> message(long sequence);

  /**
   * Keys that wait: for a retry, or for somebody who decides about a dead letter. In no order that
   * means anything, but each once, read page by page.
   *
   * @param halted only those that wait for somebody; else all
   * @param after null, or {@link Page#next} of the page before
   * @param limit the most keys of the page, at least 1
   * @throws IllegalArgumentException when the limit is less, or {@code after} is none of this store
   */
  Page<WaitingKey> waitingKeys(boolean halted, @Nullable String after, int limit);

  /** Where a message stands. */
  enum Status {
    /** Due and free to go. */
    PENDING,
    /** Due later; holds nobody back. */
    SCHEDULED,
    /** Its key waits: it is behind another of its key, or it is the one that is tried again. */
    BLOCKED,
    /** A dead letter. */
    DEAD
  }

  /**
   * One page of what was asked for.
   *
   * @param next where the next page begins; null: there is none. A page with a next one may be
   *     empty, because nothing of what it read was asked for
   */
  record Page<T>(List<T> found, @Nullable String next) {
    public Page {
      found = List.copyOf(found);
    }
  }

  /**
   * Which messages are wanted; a field that is null excludes none.
   *
   * @param key as {@link StoredMessage#key}
   * @param id the message's
   * @param dedupKey the message's
   * @param error a part of the last error, with its capital and small letters
   * @param appendedBefore by the store's clock
   * @param after null, or {@link Page#next} of the page before
   * @param limit the most messages of a page, at least 1
   */
  record Query(
      @Nullable Status status,
      @Nullable String aggregateType,
      @Nullable String key,
      @Nullable String eventType,
      @Nullable UUID id,
      @Nullable String dedupKey,
      @Nullable String error,
      @Nullable Instant appendedBefore,
      @Nullable String after,
      int limit) {

    /**
     * @throws IllegalArgumentException when the limit is less than 1
     */
    public Query {
      int ignored = ArchiveStore.checked(limit);
    }

    /** The first messages of all. */
    public static Query first(int limit) {
      return first(null, limit);
    }

    /** The first messages of a status; null: of any. */
    public static Query first(@Nullable Status status, int limit) {
      return new Query(status, null, null, null, null, null, null, null, null, limit);
    }

    /**
     * For stores.
     *
     * @return the sequence that {@link #after} stands for; 0: the beginning
     * @throws IllegalArgumentException when it is none of a store's
     */
    public long afterSequence() {
      try {
        return after == null ? 0 : Long.parseLong(after);
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException(
            "after is %s, which no page of messages has named".formatted(after), e);
      }
    }

    /** Whether a message is one of these, on any page: for stores without a query language. */
    public boolean includes(Listed one) {
      return is(status, one.status())
          && is(aggregateType, one.aggregateType())
          && is(key, one.key())
          && is(eventType, one.eventType())
          && is(id == null ? null : id.toString(), one.id())
          && is(dedupKey, one.dedupKey())
          && (error == null || (one.error() != null && one.error().contains(error)))
          && (appendedBefore == null || one.appendedAt().isBefore(appendedBefore));
    }

    private static boolean is(@Nullable Object wanted, @Nullable Object found) {
      return wanted == null || wanted.equals(found);
    }

    /** The same query, from this place on. */
    public Query after(@Nullable String from) {
      return new Query(
          status, aggregateType, key, eventType, id, dedupKey, error, appendedBefore, from, limit);
    }
  }

  /**
   * A message in a list.
   *
   * @param id as the store has it, which need not be a UUID
   * @param aggregateType null where the row has none
   * @param eventType null where the row has none
   * @param dedupKey null where the row has none
   * @param attempts that have failed
   * @param appendedAt by the store's clock
   * @param dueAt when it is or was due; null: at once
   * @param expiresAt from when on it is not published; null: never
   * @param error of the last attempt; null: none, or not known
   * @param failedAt of the last attempt; null: none, or not known
   * @param haltsKey of a dead letter: whether its key waits until somebody decides about it (O3)
   */
  record Listed(
      long sequence,
      String id,
      Status status,
      String key,
      @Nullable String aggregateType,
      @Nullable String eventType,
      @Nullable String dedupKey,
      int attempts,
      Instant appendedAt,
      @Nullable Instant dueAt,
      @Nullable Instant expiresAt,
      @Nullable String error,
      @Nullable Instant failedAt,
      boolean haltsKey) {
    public Listed {
      requireNonNull(id, "id");
      requireNonNull(status, "status");
      requireNonNull(key, "key");
      requireNonNull(appendedAt, "appendedAt");
    }
  }

  /**
   * One message.
   *
   * @param message as a claim would hand it out, with its payload
   * @param behind the message of its key that it waits for: one that is tried again, or a dead
   *     letter that halts the key. Null: it waits for none
   */
  record Inspected(Listed listed, StoredMessage message, @Nullable Long behind) {

    /**
     * For stores.
     *
     * @param key the message's; null when it does not wait
     */
    public static Inspected of(Listed listed, StoredMessage message, @Nullable WaitingKey key) {
      boolean mayWait = listed.status() == Status.PENDING || listed.status() == Status.BLOCKED;
      return new Inspected(
          listed,
          message,
          mayWait && key != null && (key.halted() || key.behind() < listed.sequence())
              ? key.behind()
              : null);
    }
  }

  /**
   * A key that waits.
   *
   * @param behind the message that it waits for
   * @param halted whether that is a dead letter, which somebody has to decide about (O3)
   * @param retryAt when that message is tried again; null when the key is halted
   * @param waiting how many messages wait behind it; {@value #MOST_BEHIND}: so many or more
   * @param attempts of that message
   * @param error its last; null: not known
   */
  record WaitingKey(
      String key,
      long behind,
      boolean halted,
      @Nullable Instant retryAt,
      int waiting,
      int attempts,
      @Nullable String error) {}
}
