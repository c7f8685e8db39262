package dev.outbox.store.mysql;

import dev.outbox.PermanentOutboxException;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.jdbc.internal.Server;
import dev.outbox.store.jdbc.internal.TableKind;
import dev.outbox.store.jdbc.internal.UnsupportedDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/** How MySQL and MariaDB are talked to, and what their errors mean. */
final class MysqlServer implements Server {
  private static final String SCHEMA_VERSION = "select version from ${q}${p}schema";

  /** A proxy or a setting may name another version; the comment stays. */
  private static final String IDENTITY = "select version(), @@version_comment";

  private static final String PLACE =
      "select concat('database ', coalesce(nullif(substring_index('${q}', '.', 1), ''), database()))";

  private static final List<UnsupportedDatabase> DISTRIBUTED =
      List.of(
          new UnsupportedDatabase(
              "TiDB",
              "tidb",
              "it takes \"for update skip locked\" for a read without locks, so two relays would publish one key at the same time"),
          new UnsupportedDatabase(
              "Vitess",
              "vitess",
              "the shards of a keyspace have no sequence in common, so messages of one key would lose their order"));

  private final PrefixedNames names;
  private final TableKind tables;
  private final Flavor flavor;
  private final MysqlText text;
  private final TransactionSettings session;

  MysqlServer(PrefixedNames names, TableKind tables, Flavor flavor) {
    this.names = names;
    this.tables = tables;
    this.flavor = flavor;
    text = new MysqlText(names, flavor);
    session = new TransactionSettings(flavor);
  }

  @Override
  public String name() {
    return flavor.title;
  }

  @Override
  public PrefixedNames names() {
    return names;
  }

  @Override
  public TableKind tables() {
    return tables;
  }

  @Override
  public Map<String, String> changelogParameters() {
    return Map.of("collation", flavor.collation);
  }

  @Override
  public Trouble trouble(SQLException failure) {
    return Errors.trouble(failure);
  }

  @Override
  public void begin(Connection connection, Duration patience) throws SQLException {
    session.begin(connection, patience);
  }

  @Override
  public void end(Connection connection) throws SQLException {
    session.end(connection);
  }

  /** Such a statement locks no rows, and says what it needs of the session. */
  @Override
  public boolean beginSingle(Handle handle, Duration patience) {
    return true;
  }

  @Override
  public int schemaVersion(Connection connection) throws SQLException {
    identify(connection);
    try (PreparedStatement statement = connection.prepareStatement(fill(SCHEMA_VERSION));
        ResultSet rows = statement.executeQuery()) {
      return rows.next() ? rows.getInt("version") : 0;
    }
  }

  /** Refuses the other one of MySQL and MariaDB, too. */
  @Override
  public void identify(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(IDENTITY);
        ResultSet rows = statement.executeQuery()) {
      rows.next();
      String server = rows.getString(1);
      if (tables != TableKind.INBOX) { // which has no order to lose
        UnsupportedDatabase.refuse(DISTRIBUTED, name(), server + " " + rows.getString(2));
      }
      if (server.contains("MariaDB") != (flavor == Flavor.MARIADB)) {
        throw new PermanentOutboxException(
            "the server is %s, and this is the store for %s: use %s"
                .formatted(server, flavor.title, flavor.other));
      }
    }
  }

  /** Unknown variable, unknown collation. */
  @Override
  public @Nullable String advice(SQLException failure) {
    return switch (failure.getErrorCode()) {
      case 1193, 1273 ->
          "the server is too old or not %s, in which case use %s"
              .formatted(flavor.title, flavor.other);
      default -> null;
    };
  }

  @Override
  public String place() {
    return PLACE;
  }

  @Override
  public String fill(String sql) {
    return text.fill(sql);
  }
}
