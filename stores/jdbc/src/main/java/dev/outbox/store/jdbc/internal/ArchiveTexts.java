package dev.outbox.store.jdbc.internal;

import dev.outbox.Archive;
import dev.outbox.TransientOutboxException;
import java.util.UUID;

/** What differs from database to database in what is asked of an archive. */
public abstract class ArchiveTexts {

  /** What is copied of a message as it is, but for payload and headers. */
  private static final String METADATA =
      "seq, id, aggregate_type, aggregate_id, event_type, partition_key, content_type, dedup_key,"
          + " correlation_id, created_at, available_at, expires_at, max_attempts";

  private final Archive archive;
  private final String kept;

  /**
   * @param archive what of a message is copied; a store that keeps none only looks
   */
  protected ArchiveTexts(Archive archive) {
    this.archive = archive;
    kept = archive == Archive.FULL ? METADATA + ", payload, headers" : METADATA;
  }

  public final boolean keepsArchive() {
    return archive != Archive.NONE;
  }

  /**
   * The columns that are copied as they are.
   *
   * @param of before each, as {@code m.}; or empty
   */
  protected final String kept(String of) {
    return of + kept.replace(", ", ", " + of);
  }

  // ---- how the database says it

  /** Of a named parameter with a time, which is text in ISO 8601 in UTC without a zone. */
  protected abstract String time(String parameter);

  /** The dead letter {@code m} with {@code :bucket, :seq}, which is locked: from FROM on. */
  protected abstract String dead();

  /** The text of an id. */
  protected String text(String id) {
    return id;
  }

  /** As whom one is connected, where no column can have that as its default; or else empty. */
  protected String user() {
    return "";
  }

  /** No bytes. */
  protected abstract String empty();

  /** How what is asked of an archive is read: a hint behind the table, or nothing. */
  protected String reading() {
    return "";
  }

  /** A query whose first rows are wanted, {@code :limit} of them. */
  protected String first(String columns, String rest) {
    return "select " + columns + rest + " limit :limit";
  }

  /** A condition: a text is the parameter's. */
  protected String is(String text, String parameter) {
    return text + " = :" + parameter;
  }

  /** The same of the key, with {@code :key}. */
  final String key() {
    return is("${messageKey}", "key");
  }

  /** A condition on {@code m} with {@code :afterTime} and {@code :afterSeq}: it comes later. */
  protected String after() {
    return "(m.archived_at, m.seq) > (" + time("afterTime") + ", :afterSeq)";
  }

  /** How the database has a message's id. */
  protected Object id(UUID id) {
    return id;
  }

  // ---- what is asked

  /**
   * Gives what {@link #columns} says of those that left from {@code :from} to before {@code :to}
   * (ISO 8601 in UTC without a zone), at most {@code :limit}, in the order of archived_at and seq;
   * further conditions on {@code m} come for ${and}.
   */
  public final String archived() {
    return first(
        columns(),
        " from ${q}${p}archive_message m%s where m.archived_at >= %s and m.archived_at < %s${and}"
                .formatted(reading(), time("from"), time("to"))
            + " order by m.archived_at, m.seq");
  }

  /** {@code :bucket, :seq, :outcome}; a copy of the dead letter, without answer. */
  public final String archiveDeadLetter() {
    return insert("attempts, last_error")
        + "m.attempts, m.last_error, ${clock}, :outcome "
        + dead();
  }

  /**
   * The beginning of a copy: what is kept of {@code m}. Values come behind it for the other
   * columns, archived_at and outcome.
   */
  protected final String insert(String others) {
    return "insert into ${q}${p}archive_message (%s, %s, archived_at, outcome) select %s, "
        .formatted(kept(""), others, kept("m."));
  }

  /** {@code :action, :who, :reason, :bucket, :seq}; an entry about the dead letter. */
  public final String noteDeadLetter() {
    return entry("select ")
        + ":action, :who, :reason, m.seq, %s %s".formatted(text("m.id"), dead());
  }

  /** {@code :action, :who, :reason, :seq, :id}; an entry. */
  public final String note() {
    return entry("values (") + ":action, :who, :reason, :seq, :id)";
  }

  /** The beginning of an entry: its time is a default, and its user, if it can be. */
  private String entry(String begin) {
    boolean isDefault = user().isEmpty();
    return "insert into ${q}${p}archive_audit (%saction, who, reason, seq, message_id) %s%s"
        .formatted(isDefault ? "" : "db_user, ", begin, isDefault ? "" : user() + ", ");
  }

  /**
   * {@code :from, :limit}; gives noted_at, action, who, reason, seq, message_id, in their order.
   */
  public final String audit() {
    return first(
        "n.noted_at, n.action, n.who, n.reason, n.seq, n.message_id",
        " from ${q}${p}archive_audit n%s where n.noted_at >= %s order by n.noted_at, n.id"
            .formatted(reading(), time("from")));
  }

  /**
   * What is read of an archived message, by place: as {@link MessageRows#COLUMNS}, and then whole,
   * archived_at, outcome, answer, last_error.
   */
  private String columns() {
    return MessageRows.COLUMNS
            .replace("${clock}", "null")
            .replace("m.bucket", "0 as bucket")
            .replace("m.payload", "coalesce(m.payload, %s) as payload".formatted(empty()))
            .replace("m.headers", "coalesce(m.headers, '[]') as headers")
        + ", case when m.payload is null then 0 else 1 end as whole,"
        + " m.archived_at, m.outcome, m.answer, m.last_error";
  }

  /**
   * Undoes what would leave the outbox without being in its archive, or the other way round.
   *
   * @throws TransientOutboxException when these are not the same; the next settle sees what is
   *     there
   */
  static void requireSame(int copied, int deleted) {
    if (copied != deleted) {
      throw new TransientOutboxException(
          "%s messages were copied into the archive, and %s were to be deleted: somebody changes them by hand, or something keeps them from the archive; nothing was changed"
              .formatted(copied, deleted));
    }
  }
}
