package dev.outbox.store.sqlserver;

import dev.outbox.PermanentOutboxException;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.jdbc.internal.Server;
import dev.outbox.store.jdbc.internal.TableKind;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.SqlStatements;
import org.jspecify.annotations.Nullable;

/** How SQL Server is talked to, and what its errors mean. */
final class SqlServerServer extends Server {

  /** The longest that any statement waits, as for a lock that a stalled client holds. */
  private static final int WAIT_SECONDS = 30;

  /** Of the bits of @@OPTIONS, 512 is NOCOUNT. */
  private static final String SCHEMA_VERSION =
      """
      select version, @@options & 512 as no_count,
        (select min(i.name) from sys.indexes i
          where i.allow_page_locks = 1 and i.object_id in (${objects})) as page_locks
      from ${q}${p}schema ${now}
      """;

  private static final String PLACE =
      "select concat(N'schema ', object_schema_name(object_id(N'${q}${p}schema')), N' of database ', db_name())";

  private static final String YIELD = "set deadlock_priority low";

  private final SqlServerText text;
  private final String objects;

  SqlServerServer(PrefixedNames names, TableKind tables) {
    super("SQL Server", PLACE, names, tables);
    text = new SqlServerText(names);
    objects =
        rowsLocked(tables).stream()
            .map("object_id(N'${q}${p}%s')"::formatted)
            .collect(Collectors.joining(", "));
  }

  /** The tables whose rows are locked one by one, named without the prefix. */
  private static List<String> rowsLocked(TableKind tables) {
    return switch (tables) {
      case OUTBOX, OUTBOX_WITH_ARCHIVE -> List.of("message", "blocked_key", "bucket", "dedup");
      case ARCHIVE -> List.of("message", "audit");
      case INBOX -> List.of("message");
    };
  }

  @Override
  public PreparedStatement prepare(Connection connection, String sql) throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    statement.setQueryTimeout(WAIT_SECONDS);
    return statement;
  }

  /** As nvarchar, for the reason that {@link UnicodeArguments} gives. */
  @Override
  public void setText(PreparedStatement statement, int i, @Nullable String text)
      throws SQLException {
    statement.setNString(i, text);
  }

  @Override
  public Trouble trouble(SQLException failure) {
    return Errors.trouble(failure);
  }

  @Override
  public @Nullable String advice(SQLException failure) {
    return Errors.advice(failure);
  }

  @Override
  public void configure(Jdbi jdbi) {
    jdbi.registerArgument(new UnicodeArguments());
    jdbi.getConfig(SqlStatements.class).setQueryTimeout(WAIT_SECONDS);
  }

  @Override
  public int schemaVersion(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(fill(SCHEMA_VERSION));
        ResultSet row = statement.executeQuery()) {
      if (!row.next()) {
        return 0;
      }
      if (row.getInt("no_count") != 0) {
        throw new PermanentOutboxException(
            "the session has NOCOUNT on, so that nobody learns what a statement changed: take it out of the server's 'user options', or set it off on each connection");
      }
      String index = row.getString("page_locks");
      if (index != null) {
        throw new PermanentOutboxException(
            "index %s allows page locks, for which transactions with other rows wait for each other: alter index %s on its table set (allow_page_locks = off)"
                .formatted(index, index));
      }
      return row.getInt("version");
    }
  }

  /**
   * Both settings are the session's and stay. Of a deadlock we are the victim, because we run our
   * transaction again by ourselves.
   */
  @Override
  public void begin(Connection connection, Duration patience) throws SQLException {
    execute(
        connection,
        connection.getTransactionIsolation() == Connection.TRANSACTION_READ_COMMITTED
            ? YIELD
            : YIELD + "; set transaction isolation level read committed");
  }

  /** The driver knows which isolation level it was, and nobody which priority: the default. */
  @Override
  public void end(Connection connection) throws SQLException {
    int level = connection.getTransactionIsolation();
    if (level != Connection.TRANSACTION_READ_COMMITTED) {
      connection.setTransactionIsolation(level);
    }
    execute(connection, "set deadlock_priority normal");
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @Override
  public String fill(String sql) {
    return text.fill(sql.replace("${objects}", objects));
  }
}
