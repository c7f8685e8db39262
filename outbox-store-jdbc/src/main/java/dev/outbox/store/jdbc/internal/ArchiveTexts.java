package dev.outbox.store.jdbc.internal;

import static java.util.stream.Collectors.joining;

import dev.outbox.Archive;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;

/** What differs from database to database in what is asked of an archive. */
public abstract class ArchiveTexts {

  /** What is copied of a message as it is, but for payload and headers. */
  private static final List<String> METADATA =
      List.of(
          "seq",
          "id",
          "aggregate_type",
          "aggregate_id",
          "event_type",
          "partition_key",
          "content_type",
          "dedup_key",
          "correlation_id",
          "created_at",
          "available_at",
          "max_attempts");

  private static final List<String> CONTENT = List.of("payload", "headers");

  private final List<String> kept;

  /**
   * @param archive what of a message is copied; a store that keeps none only looks
   */
  protected ArchiveTexts(Archive archive) {
    kept =
        archive == Archive.FULL
            ? Stream.concat(METADATA.stream(), CONTENT.stream()).toList()
            : METADATA;
  }

  /**
   * The columns that are copied as they are.
   *
   * @param of before each, as {@code m.}; or empty
   */
  protected final String kept(String of) {
    return kept.stream().map(column -> of + column).collect(joining(", "));
  }

  /**
   * Gives what {@link #columns} says of those that left from {@code :from} to before {@code :to}
   * (ISO 8601 in UTC without a zone), at most {@code :limit}, in the order of archived_at and seq;
   * further conditions on {@code m} come for ${and}.
   */
  protected abstract String archived();

  /** A condition on {@code m} with {@code :key}. */
  protected abstract String key();

  /** A condition on {@code m} with {@code :afterTime} and {@code :afterSeq}: it comes later. */
  protected abstract String after();

  /** How the database has a message's id. */
  protected Object id(UUID id) {
    return id;
  }

  /** {@code :bucket, :seq, :outcome}; a copy of the dead letter, without answer. */
  protected abstract String archiveDeadLetter();

  /** {@code :action, :who, :reason, :bucket, :seq}; an entry about the dead letter. */
  protected abstract String noteDeadLetter();

  /** {@code :action, :who, :reason, :seq, :id}; an entry. */
  protected abstract String note();

  /**
   * {@code :from, :limit}; gives noted_at, action, who, reason, seq, message_id, in their order.
   */
  protected abstract String audit();

  /** As {@link dev.outbox.store.core.internal.Database.Administration#keepArchive}. */
  protected abstract boolean keep(Handle handle, Duration retention);

  /**
   * What is read of an archived message, by place: as {@link Rows#COLUMNS}, and then whole,
   * archived_at, outcome, answer, last_error.
   *
   * @param empty how the database writes no bytes
   */
  protected static String columns(String empty) {
    return Rows.COLUMNS
            .replace("m.bucket", "0 as bucket")
            .replace("m.payload", "coalesce(m.payload, %s) as payload".formatted(empty))
            .replace("m.headers", "coalesce(m.headers, '[]') as headers")
        + ", case when m.payload is null then 0 else 1 end as whole,"
        + " m.archived_at, m.outcome, m.answer, m.last_error";
  }
}
