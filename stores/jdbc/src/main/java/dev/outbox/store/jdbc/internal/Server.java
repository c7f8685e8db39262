package dev.outbox.store.jdbc.internal;

import dev.outbox.store.core.internal.Database;
import dev.outbox.store.core.internal.PrefixedNames;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;

/**
 * What a database's server needs from its client: tables, settings of a transaction, error codes.
 */
public abstract class Server {

  public enum Trouble {
    /** A deadlock or the like: the library runs its own transaction again. */
    CONFLICT,
    /** There is no connection to be had. */
    UNREACHABLE,
    /** The server lacks disk space, memory or the like. */
    EXHAUSTED,
    /**
     * The server ended the statement or the session: at a time limit, or because it was told to.
     */
    CUT_OFF,
    /** The connection broke: the server stopped or crashed, or the network failed. */
    LOST,
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

  private final String name;
  private final String place;
  private final PrefixedNames names;
  private final TableKind tables;

  /**
   * @param name the database's, in error texts
   * @param place a query of one text: {@link dev.outbox.spi.store.SchemaStore#place}
   * @param names of the tables
   * @param tables what they are for
   */
  protected Server(String name, String place, PrefixedNames names, TableKind tables) {
    this.name = name;
    this.place = place;
    this.names = names;
    this.tables = tables;
  }

  final String place() {
    return place;
  }

  public final String name() {
    return name;
  }

  public final PrefixedNames names() {
    return names;
  }

  public final TableKind tables() {
    return tables;
  }

  /** Where in the class path the Liquibase changelog is; formatted SQL with ${q} and ${p}. */
  final String changelog() {
    return getClass().getPackageName().replace('.', '/') + "/" + tables().changelog;
  }

  /**
   * Makes the table in which Liquibase notes changes, with ${q} and ${p}, where that is refused its
   * own; null where something else was refused.
   */
  public @Nullable String changesTable(SQLException refused) {
    return null;
  }

  /** What else the changelog has between ${ and }. */
  public Map<String, String> changelogParameters() {
    return Map.of();
  }

  /**
   * What the users of these tables need, as statements with ${q}, ${p} and the names of {@link
   * Grants.Role roles}; lines with ${schema} only count where one is chosen.
   */
  String grants() {
    return tables().grants.stream()
        .map(file -> PrefixedNames.resource(getClass(), file))
        .collect(Collectors.joining());
  }

  /**
   * Asks whether the session's user has a right, with the parameters of what, of which column if it
   * is one, and of which right; null where it is not asked.
   *
   * @param kind of what: table, column, sequence, function or schema
   */
  public @Nullable String hasRight(String kind) {
    return null;
  }

  public abstract Trouble trouble(SQLException failure);

  /**
   * What to do about a failure that is {@link Trouble#OTHER}, {@link Trouble#EXHAUSTED}, {@link
   * Trouble#CUT_OFF}, {@link Trouble#LOST} or {@link Trouble#CONFLICT}, where more is known than
   * that; or null.
   */
  public abstract @Nullable String advice(SQLException failure);

  /** Sets what the driver needs for all statements of the store's own transactions. */
  public void configure(Jdbi jdbi) {}

  /** Refuses a caller's connection whose statements would not be its own. */
  public void check(Connection connection) throws SQLException {}

  /** Prepares a statement that is not left to Jdbi. */
  public PreparedStatement prepare(Connection connection, String sql) throws SQLException {
    return connection.prepareStatement(sql);
  }

  /** Binds a text so that it arrives as it is. */
  public void setText(PreparedStatement statement, int i, @Nullable String text)
      throws SQLException {
    statement.setString(i, text);
  }

  /**
   * Prepares the transaction that has just begun.
   *
   * @param patience after this long without a sign of the client the database ends the transaction
   *     by itself, so that a stalled client holds nothing up (C4)
   */
  public abstract void begin(Connection connection, Duration patience) throws SQLException;

  /**
   * The same for a transaction of a claim, whose first statement is one of {@link Database.Leases}:
   * that one may do it.
   */
  public void beginWithLeases(Handle handle, Duration patience) throws SQLException {
    begin(handle.getConnection(), patience);
  }

  /**
   * Prepares a statement that is all of its transaction, one of {@link Database.Leases} or a look.
   *
   * @return false where that has to be run in a transaction as all others
   */
  public boolean beginSingle(Handle handle, Duration patience) {
    return false;
  }

  /** Puts back what {@link #begin} set beyond the transaction, which is over. */
  public void end(Connection connection) throws SQLException {}

  /**
   * The version that the schema says it has; 0 when it says none.
   *
   * @throws dev.outbox.OutboxException when the database cannot hold every message, is one that the
   *     store does not work with, or cannot be worked with through this connection
   */
  public abstract int schemaVersion(Connection connection) throws SQLException;

  /**
   * Refuses a user that may change messages and from whom the database hides some.
   *
   * @throws dev.outbox.OutboxException then
   */
  public void checkRows(Connection connection) throws SQLException {}

  /**
   * Asks a server that has failed at something else whether it is one that the store does not work
   * with, and refuses it then.
   *
   * @param connection in auto-commit
   */
  public void identify(Connection connection) throws SQLException {}

  /** A statement with the names of schema and tables, and with the parts that recur, filled in. */
  public abstract String fill(String sql);
}
