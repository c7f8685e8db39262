package dev.outbox.spi.store;

import static java.util.Objects.requireNonNull;

import dev.outbox.OutboxException;
import dev.outbox.OutboxMessage;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A message as a store hands it out. Immutable. */
public final class StoredMessage {
  private final long sequence;
  private final String key;
  private final @Nullable String aggregateType;
  private final int attempts;
  private final Instant createdAt;
  private final @Nullable OutboxMessage message;
  private final @Nullable String problem;
  private final boolean expired;

  private StoredMessage(
      long sequence,
      String key,
      @Nullable String aggregateType,
      int attempts,
      Instant createdAt,
      @Nullable OutboxMessage message,
      @Nullable String problem,
      boolean expired) {
    this.sequence = sequence;
    this.key = requireNonNull(key, "key");
    this.aggregateType = aggregateType;
    this.attempts = attempts;
    this.createdAt = requireNonNull(createdAt, "createdAt");
    this.message = message;
    this.problem = problem;
    this.expired = expired;
  }

  /** A message that was read whole. */
  public static StoredMessage of(
      long sequence, int attempts, Instant created, OutboxMessage message) {
    return new StoredMessage(
        sequence, message.key(), message.aggregateType(), attempts, created, message, null, false);
  }

  /** Reads a message from a row. */
  @FunctionalInterface
  public interface Decoding<E extends Exception> {
    OutboxMessage message() throws E;
  }

  /**
   * Reads a message. When a value breaks a limit or has another type, the result is a row that
   * cannot be decoded (C7).
   *
   * @param key the row's
   * @param aggregateType the row's, null when it has none
   * @throws E when the row cannot be read
   */
  public static <E extends Exception> StoredMessage decode(
      long sequence,
      String key,
      @Nullable String aggregateType,
      int attempts,
      Instant createdAt,
      Decoding<E> decoding)
      throws E {
    try {
      return of(sequence, attempts, createdAt, decoding.message());
    } catch (IllegalArgumentException | OutboxException e) {
      return undecodable(
          sequence, key, aggregateType, attempts, createdAt, String.valueOf(e.getMessage()));
    }
  }

  /**
   * A row that cannot be decoded: it has a key, and says what is wrong with it (C7).
   *
   * @param aggregateType as the row has it, null when it has none
   */
  public static StoredMessage undecodable(
      long sequence,
      String key,
      @Nullable String aggregateType,
      int attempts,
      Instant createdAt,
      String problem) {
    requireNonNull(problem, "problem");
    return new StoredMessage(
        sequence, key, aggregateType, attempts, createdAt, null, problem, false);
  }

  /** Given by the store at append, unique in it; order within a key is sequence order. */
  public long sequence() {
    return sequence;
  }

  /** The message's key. */
  public String key() {
    return key;
  }

  /** The message's aggregate type; with a {@link #problem()} as the row has it, or null. */
  public @Nullable String aggregateType() {
    return aggregateType;
  }

  /** How many attempts that count have failed so far; from 0 on. */
  public int attempts() {
    return attempts;
  }

  /** When it was appended, by the database's clock. */
  public Instant createdAt() {
    return createdAt;
  }

  /**
   * The message.
   *
   * @throws IllegalStateException when there is a {@link #problem()}
   */
  public OutboxMessage message() {
    if (message == null) {
      throw new IllegalStateException("message " + sequence + " cannot be decoded: " + problem);
    }
    return message;
  }

  /** Why the message cannot be decoded, or null when it can. Publishers only get those that can. */
  public @Nullable String problem() {
    return problem;
  }

  /**
   * Whether its time was over when it was claimed, by the store's clock: it is not published, but
   * settled as {@link Decision#expired()} (C10). False of one with a {@link #problem()}.
   */
  public boolean expired() {
    return expired;
  }

  /** For stores: the same as one that is {@link #expired()}. */
  public StoredMessage asExpired() {
    return new StoredMessage(
        sequence, key, aggregateType, attempts, createdAt, message, problem, message != null);
  }

  /** For stores: the same, as claimed at this time of the store's clock; expired, if it is over. */
  public StoredMessage claimedAt(Instant now) {
    Instant expiresAt = message == null ? null : message.expiresAt();
    return expiresAt == null || expiresAt.isAfter(now) ? this : asExpired();
  }

  @Override
  public String toString() {
    return "message "
        + sequence
        + " ("
        + (message != null ? message : "key " + key + ", undecodable: " + problem)
        + ")";
  }
}
