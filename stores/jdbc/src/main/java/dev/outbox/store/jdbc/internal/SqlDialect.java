package dev.outbox.store.jdbc.internal;

import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.PermanentOutboxException;
import dev.outbox.store.core.internal.Alone;
import dev.outbox.store.core.internal.Database;
import dev.outbox.store.core.internal.Database.Block;
import dev.outbox.store.core.internal.Database.Failure;
import dev.outbox.store.core.internal.Database.Key;
import dev.outbox.store.core.internal.Database.Leases;
import dev.outbox.store.core.internal.Database.Limits;
import dev.outbox.store.core.internal.Database.Look;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.Names;
import dev.outbox.store.core.internal.Row;
import dev.outbox.store.core.internal.Row.Claimable;
import dev.outbox.store.core.internal.Row.OfMessage;
import dev.outbox.store.core.internal.Status;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.PreparedBatch;
import org.jdbi.v3.core.statement.Query;

/**
 * What differs from database to database in the outbox: its statements, and how its {@link Server}
 * is talked to.
 *
 * <p>A method that gives a text says which named parameters the statement takes and which columns
 * it gives; {@link SqlDatabase} and {@link SqlAdministration} run it. Texts have placeholders,
 * which {@link #fill} fills in once. Times are the database's own, in UTC; durations are in
 * milliseconds.
 */
public interface SqlDialect extends Server, Rows.Types {

  /**
   * Appends on the caller's connection, in as few round trips as the database allows.
   *
   * @return the ids of the duplicates
   */
  Set<UUID> append(Connection connection, List<OutboxMessage> messages, Duration dedupWindow)
      throws SQLException;

  /** What the algorithm asks. */
  default Database<Handle> database() {
    SqlDatabase sql = new SqlDatabase(this);
    return new Database<>(leases(), sql, sql, new SqlAdministration(this));
  }

  // ---- archive

  /**
   * What is kept of messages that leave. Where it is not {@link Archive#NONE}, the next two are.
   */
  default Archive archive() {
    return Archive.NONE;
  }

  /** Where the archive is, which has tables and a version of its own. */
  default ArchiveServer archiveServer() {
    throw new UnsupportedOperationException();
  }

  /** Those of the archive too, where there is one. */
  @Override
  default String grants() {
    return archive() == Archive.NONE
        ? Server.super.grants()
        : Server.super.grants() + Names.resource(getClass(), "archive-grants.sql");
  }

  /** What is asked of the archive; a store without one is asked for what another has archived. */
  default ArchiveTexts archiveTexts() {
    throw new PermanentOutboxException("the store of %s has no archive".formatted(name()));
  }

  /**
   * Appends messages and asks what may be handed over.
   *
   * @param open the leases that they could be handed over to
   * @return in their order those that may be handed over when the transaction has committed: all of
   *     a bucket, or none. Empty: nothing was appended, because nothing could be handed over
   */
  default Optional<List<Alone>> appendToHandOver(
      Connection connection, List<OutboxMessage> messages, List<Lease> open) throws SQLException {
    return Optional.empty();
  }

  // ---- leases

  Leases<Handle> leases();

  // ---- reads

  /** Reads the rows of a query, in their order. */
  interface Reader<R> {
    R read(ResultSet rows) throws SQLException;

    /** Runs the query and reads what it gives. */
    default R readAll(Query query) {
      return query.scanResultSet((rows, context) -> read(rows.get()));
    }
  }

  /**
   * Reads the first PENDING or SCHEDULED messages of each bucket, which may come in any order:
   * {@link Rows#COLUMNS}, target (the status to move to, or null) and horizon (a number that says
   * something of the snapshot, or null); or only the last for a bucket without messages. Of a
   * message to be moved, and of one whose payload has more bytes, the payload comes as null.
   *
   * @param most how many messages of each bucket
   * @param bytes the most bytes of a payload
   */
  <R> R read(
      Handle handle,
      Status status,
      List<Lease> leases,
      ToIntFunction<Lease> most,
      long bytes,
      Reader<R> reader);

  /**
   * The same, in order, as bucket and size: the bytes of the payload, or 0 of a message to be
   * moved.
   */
  <R> R sizes(
      Handle handle,
      Status status,
      List<Lease> leases,
      ToIntFunction<Lease> most,
      Reader<R> reader);

  /**
   * Reads PENDING messages where one statement is no snapshot; elsewhere that is all.
   *
   * @param read gives what the statement finds
   */
  default List<Row> readPending(
      Handle handle, List<Lease> leases, Limits limits, Supplier<List<Row>> read) {
    return read.get();
  }

  /**
   * The leases with the states that they have after a read of PENDING messages.
   *
   * @param most how many messages of each bucket the read had room for
   */
  default List<Lease> afterRead(
      List<Lease> leases, List<Row> rows, ToIntFunction<Lease> most, long horizon) {
    return leases;
  }

  /** As {@link Database.Reads#look}. */
  default Look look(Handle handle, UUID claimId, List<Lease> leases, Limits limits) {
    throw new UnsupportedOperationException();
  }

  /** As {@link Database.Reads#readBlocked}. */
  List<Row> readBlocked(Handle handle, List<Lease> leases, Limits limits);

  // ---- writes

  /**
   * Runs a statement for the messages with these buckets, sequences and ids.
   *
   * @return how many rows it changed
   */
  int forRows(Handle handle, String sql, Collection<? extends OfMessage> rows, Map<String, ?> more);

  /** {@link #forRows}: those that are PENDING or SCHEDULED become BLOCKED. */
  String moveToBlocked();

  /** {@link #forRows}: those that are PENDING become SCHEDULED. */
  String moveToScheduled();

  /**
   * {@link #forRows} and {@code :by}: adds to the attempts of what is not dead, not below 0 nor
   * beyond what an int holds.
   */
  String count();

  /** {@link #forRows}. */
  String delete();

  /**
   * Deletes messages with these buckets, sequences and ids.
   *
   * @return how many it found
   */
  default int delete(Handle handle, Collection<Claimable> delivered) {
    return forRows(handle, delete(), delivered, Map.of());
  }

  /**
   * Copies messages into the archive, which {@link #delete} then deletes; only where there is one.
   *
   * @return how many it found
   */
  default int copy(Handle handle, Collection<Claimable> delivered) {
    throw new UnsupportedOperationException();
  }

  /** As {@link Database.Writes#delete}. */
  default List<Lease> delete(
      Handle handle, Collection<Lease> leases, Collection<Claimable> delivered) {
    boolean archives = archive() != Archive.NONE;
    int copied = archives ? copy(handle, delivered) : 0;
    int deleted = delete(handle, delivered);
    if (archives) {
      ArchiveTexts.requireSame(copied, deleted);
    }
    return List.copyOf(leases);
  }

  /**
   * {@code :bucket, :seq, :id, :attempts, :availableAt, :attemptsAfter, :status, :error}; changes
   * the row that has this sequence, this id, these attempts and this time (ISO 8601 in UTC without
   * a zone, or null; of a time before the year 1 or after 9999 the nearest in them), and is not
   * dead.
   */
  String fail();

  /** Binds what else {@link #fail} takes. */
  default PreparedBatch bindMore(PreparedBatch batch, Failure failure) {
    return batch;
  }

  /** As {@link Database.Writes#block}; a row that is there keeps the lower low_seq. */
  void block(Handle handle, List<Block> blocks);

  /** {@code :bucket, :key, :seq}. */
  String lower();

  /** As {@link Database.Writes#advance}. */
  void advance(Handle handle, Collection<Key> keys);

  // ---- administration

  /** What people and housekeeping ask. */
  SqlAdministration.Texts administration();
}
