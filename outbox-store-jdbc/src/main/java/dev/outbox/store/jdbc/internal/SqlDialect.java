package dev.outbox.store.jdbc.internal;

import dev.outbox.OutboxMessage;
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
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.PreparedBatch;
import org.jdbi.v3.core.statement.Query;
import org.jspecify.annotations.Nullable;

/**
 * What differs from database to database: how its server is talked to, and its statements.
 *
 * <p>A method that gives a text says which named parameters the statement takes and which columns
 * it gives; {@link SqlDatabase} and {@link SqlAdministration} run it. Texts have placeholders,
 * which {@link #fill} fills in once. Times are the database's own, in UTC; durations are in
 * milliseconds.
 */
public interface SqlDialect extends Rows.Types {

  /** What a failed statement means. */
  enum Trouble {
    /** A deadlock or the like: the library runs its own transaction again. */
    CONFLICT,
    /** There is no connection to be had. */
    UNREACHABLE,
    /** The statement or the connection was ended from outside: a time limit, a shutdown. */
    CUT_OFF,
    /** Wrong user, password or database. */
    REFUSED,
    /** The user lacks a right. */
    FORBIDDEN,
    MISSING_SCHEMA,
    READ_ONLY,
    /** An earlier statement of the caller's transaction failed. */
    FAILED_BEFORE,
    OTHER
  }

  // ---- the server

  /** The database's name in error texts. */
  String name();

  /** Where in the class path the Liquibase changelog is; formatted SQL with ${q} and ${p}. */
  String changelog();

  /** What else the changelog has between ${ and }. */
  default Map<String, String> changelogParameters() {
    return Map.of();
  }

  /**
   * What producers and relays need, as statements with ${q}, ${p}, ${producer} and ${relay}; lines
   * with ${schema} only count where one is chosen.
   */
  default String grants() {
    return Names.resource(getClass(), "grants.sql");
  }

  /** Says what a failure means. */
  Trouble trouble(SQLException failure);

  /**
   * What to do about a failure that is {@link Trouble#OTHER} or {@link Trouble#CUT_OFF}, where more
   * is known than that; or null.
   */
  default @Nullable String advice(SQLException failure) {
    return null;
  }

  /** Sets what the driver needs for all statements of the store's own transactions. */
  default void configure(Jdbi jdbi) {}

  /**
   * Prepares the transaction that has just begun.
   *
   * @param patience after this long without a sign of the client the database ends the transaction
   *     by itself, so that a stalled client holds no bucket (C4)
   */
  void begin(Connection connection, Duration patience) throws SQLException;

  /**
   * The same for a transaction of a claim, whose first statement is one of {@link #leases}: that
   * one may do it.
   */
  default void beginWithLeases(Handle handle, Duration patience) throws SQLException {
    begin(handle.getConnection(), patience);
  }

  /**
   * Prepares a statement that is all of its transaction, one of {@link #leases} or a look.
   *
   * @return false where that has to be run in a transaction as all others
   */
  default boolean beginAlone(Handle handle, Duration patience) {
    return false;
  }

  /** Puts back what {@link #begin} set beyond the transaction, which is over. */
  default void end(Connection connection) throws SQLException {}

  /**
   * The version that the schema says it has; 0 when it says none.
   *
   * @throws dev.outbox.OutboxException when the database cannot hold every message, or cannot be
   *     worked with through this connection
   */
  int schemaVersion(Connection connection) throws SQLException;

  /** Gives one text: {@link dev.outbox.spi.SchemaStore#place}. */
  String place();

  /**
   * Appends on the caller's connection, in as few round trips as the database allows.
   *
   * @return the ids of the duplicates
   */
  Set<UUID> append(Connection connection, List<OutboxMessage> messages, Duration dedupWindow)
      throws SQLException;

  /** A statement with the names of schema and tables, and with the parts that recur, filled in. */
  String fill(String sql);

  /** What the algorithm asks. */
  default Database<Handle> database() {
    SqlDatabase sql = new SqlDatabase(this);
    return new Database<>(leases(), sql, sql, new SqlAdministration(administration(), this));
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
   * Reads the first PENDING or SCHEDULED messages of each bucket, in order: {@link Rows#COLUMNS},
   * target (the status to move to, or null) and horizon (a number that says something of the
   * snapshot, or null); or only the last for a bucket without messages. Of a message to be moved,
   * and of one whose payload has more bytes, the payload comes as null.
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

  /** The same as bucket and size: the bytes of the payload, or 0 of a message to be moved. */
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

  /** Runs a statement for the messages with these buckets, sequences and ids. */
  void forRows(
      Handle handle, String sql, Collection<? extends OfMessage> rows, Map<String, ?> more);

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

  /** As {@link Database.Writes#delete}. */
  default List<Lease> delete(
      Handle handle, Collection<Lease> leases, Collection<Claimable> delivered) {
    forRows(handle, delete(), delivered, Map.of());
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
