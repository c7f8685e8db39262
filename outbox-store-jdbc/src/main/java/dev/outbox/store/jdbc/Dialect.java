package dev.outbox.store.jdbc;

import dev.outbox.OutboxMessage;
import dev.outbox.store.core.Names;
import dev.outbox.store.core.Statements;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;

/**
 * What differs from database to database: statements, types and error numbers. The {@link
 * Statements} run inside a transaction of the store's own that {@link #begin} opened.
 */
public interface Dialect extends Statements<Handle> {

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

  /** Sorts a failure. */
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

  /** Puts back what {@link #begin} set beyond the transaction, which is over. */
  default void end(Connection connection) throws SQLException {}

  /**
   * The version that the schema says it has; 0 when it says none.
   *
   * @throws dev.outbox.OutboxException when the database cannot hold every message, or cannot be
   *     worked with through this connection
   */
  int schemaVersion(Connection connection) throws SQLException;

  /**
   * Appends on the caller's connection, in as few round trips as the database allows.
   *
   * @return the ids of the duplicates
   */
  Set<UUID> append(Connection connection, List<OutboxMessage> messages, Duration dedupWindow)
      throws SQLException;

  /** How many dedup keys {@link #purgeDedup} deletes at once. */
  int PURGE = 10_000;
}
