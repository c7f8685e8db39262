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
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/** How MySQL and MariaDB are talked to, and what their errors mean. */
final class MysqlServer extends Server {
  private static final String SCHEMA_VERSION = "select version from ${q}${p}schema";

  /** Comes back otherwise where texts of the connection cannot have every character. */
  private static final String FAR_CHARACTER = "\uD83D\uDCEE";

  /** A proxy or a setting may name another version; the comment stays. */
  private static final String IDENTITY =
      "select version(), @@version_comment, convert('%s' using utf8mb4), concat_ws(', ', @@character_set_client, @@character_set_connection, @@character_set_results), '' is null"
          .formatted(FAR_CHARACTER);

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

  /** With the columns of Liquibase's own. */
  private static final String CHANGES =
      """
      create table if not exists ${q}${p}databasechangelog (
        ID varchar(255) not null, AUTHOR varchar(255) not null, FILENAME varchar(255) not null,
        DATEEXECUTED datetime not null, ORDEREXECUTED int not null, EXECTYPE varchar(10) not null,
        MD5SUM varchar(35), DESCRIPTION varchar(255), COMMENTS varchar(255), TAG varchar(255),
        LIQUIBASE varchar(20), CONTEXTS varchar(255), LABELS varchar(255),
        DEPLOYMENT_ID varchar(10), primary key (ORDEREXECUTED))
      """;

  /** By sql_require_primary_key; by MariaDB's innodb_force_primary_key. */
  private static final Set<Integer> NEEDS_PRIMARY_KEY = Set.of(3750, 1173);

  private static final String BEGIN =
      """
      set @outbox_idle = @@session.wait_timeout, @outbox_write = @@session.net_write_timeout,
        @outbox_zone = @@session.time_zone, @outbox_isolation = @@session.${isolation},
        @outbox_read_only = @@session.${read_only}, @outbox_safe = @@session.sql_safe_updates,
        @@session.wait_timeout = ${seconds}, @@session.net_write_timeout = ${seconds},
        @@session.time_zone = '+00:00', @@session.${isolation} = 'READ-COMMITTED',
        @@session.${read_only} = 0, @@session.sql_safe_updates = 0
      """;

  private static final String END =
      """
      set @@session.wait_timeout = @outbox_idle, @@session.net_write_timeout = @outbox_write,
        @@session.time_zone = @outbox_zone, @@session.${isolation} = @outbox_isolation,
        @@session.${read_only} = @outbox_read_only, @@session.sql_safe_updates = @outbox_safe
      """;

  private final Flavor flavor;
  private final MysqlText text;
  private final String begin;
  private final String end;

  MysqlServer(PrefixedNames names, TableKind tables, Flavor flavor) {
    super(flavor.title, PLACE, names, tables);
    this.flavor = flavor;
    text = new MysqlText(names, flavor);
    begin = text.fill(BEGIN);
    end = text.fill(END);
  }

  @Override
  public @Nullable String changesTable(SQLException refused) {
    return NEEDS_PRIMARY_KEY.contains(refused.getErrorCode()) ? CHANGES : null;
  }

  @Override
  public Map<String, String> changelogParameters() {
    return Map.of("collation", flavor.collation);
  }

  @Override
  public Trouble trouble(SQLException failure) {
    return Errors.trouble(failure);
  }

  /**
   * Sets each transaction of ours up in one round trip; {@link #end} puts all back in another: the
   * connection may be the application's.
   *
   * <ul>
   *   <li>READ COMMITTED: the reads of a claim must see what was committed before its lease, and at
   *       REPEATABLE READ gaps are locked, in the way of producers' inserts. Not by what is set for
   *       one transaction alone: MariaDB's driver sends no COMMIT where nothing was read, and the
   *       application's next transaction would get it.
   *   <li>A client that stops inside a transaction would hold its bucket rows for {@code
   *       wait_timeout}, eight hours by default, and others would skip them as long. When it owes a
   *       statement, {@code wait_timeout} ends it; when it stops while a large result is on its
   *       way, {@code net_write_timeout}.
   *   <li>UTC, for the clock that {@code sysdate()} reads.
   *   <li>Updates of lists, which {@code sql_safe_updates} takes for updates of everything.
   * </ul>
   */
  @Override
  public void begin(Connection connection, Duration patience) throws SQLException {
    long seconds =
        Math.min(Integer.MAX_VALUE / 1000, Math.max(1, patience.plusMillis(999).toSeconds()));
    execute(connection, begin.replace("${seconds}", "" + seconds));
  }

  @Override
  public void end(Connection connection) throws SQLException {
    execute(connection, end);
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
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
      if (tables() != TableKind.INBOX) { // which has no order to lose
        UnsupportedDatabase.refuse(DISTRIBUTED, name(), server + " " + rows.getString(2));
      }
      if (server.contains("MariaDB") != (flavor == Flavor.MARIADB)) {
        throw new PermanentOutboxException(
            "the server is %s, and this is the store for %s: use %s"
                .formatted(server, flavor.title, flavor.other));
      }
      if (!FAR_CHARACTER.equals(rows.getString(3))) {
        throw new PermanentOutboxException(
            "the connection's character sets are %s (client, connection, results), which would lose characters of keys and headers: take characterEncoding, connectionCollation, characterSetResults and set names out of the URL and the pool's settings, or make them UTF-8 and utf8mb4"
                .formatted(rows.getString(4)));
      }
      if (rows.getBoolean(5)) {
        throw new PermanentOutboxException(
            "the session's sql_mode has EMPTY_STRING_IS_NULL, with which nothing is found that has no text: take it out for producers and relays");
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
  public String fill(String sql) {
    return text.fill(sql);
  }
}
