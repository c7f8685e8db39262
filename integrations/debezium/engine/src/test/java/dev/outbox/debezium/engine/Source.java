package dev.outbox.debezium.engine;

import dev.outbox.OutboxMessage;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.jdbc.TestDatabase;
import dev.outbox.store.mysql.MysqlOutboxStore;
import dev.outbox.store.postgres.PostgresOutboxStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;

/** The outbox's tables in a schema of their own, and how Debezium reads them. */
abstract class Source implements AutoCloseable {
  private static final String PASSWORD = "a password";

  final String name;
  final TestDatabase database;
  final JdbcOutboxStore store;
  private final Path directory;

  private Source(TestDatabase database, JdbcOutboxStore store) {
    this.name = database.schema();
    this.database = database;
    this.store = store;
    try {
      directory = Files.createTempDirectory(name);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    store.migrate();
    String script =
        Page.block("role, " + label())
            .replace("outbox_insert", name)
            .replace("outbox_message", table())
            .replace("schema public", "schema " + name)
            .replace(" debezium", " " + role())
            .replace("'…'", "'" + PASSWORD + "'");
    database.execute(script.split(";"));
  }

  /** Whose statements and settings of the page are meant. */
  abstract String label();

  /** The connector's settings as our page has them, for this table. */
  abstract Map<String, String> page();

  /** What is different in a test. */
  abstract Map<String, String> connector();

  /** The engine's settings: the page's, with this server, this topic, and less patience. */
  final Map<String, String> engine(String topic) {
    URI address = address();
    Map<String, String> settings = page();
    settings.put("name", name);
    settings.put("topic.prefix", name);
    settings.put("database.hostname", address.getHost());
    settings.put("database.port", Integer.toString(address.getPort()));
    settings.put("database.user", role());
    settings.put("database.password", PASSWORD);
    settings.put("heartbeat.interval.ms", "500");
    settings.put("poll.interval.ms", "20");
    settings.put("max.batch.size", "50");
    settings.put("max.queue.size", "200");
    settings.put("offset.storage", "org.apache.kafka.connect.storage.FileOffsetBackingStore");
    settings.put("offset.storage.file.filename", file("offsets"));
    // For the start of a task; the engine has 40 seconds, which a busy machine may need.
    settings.put("task.management.timeout.ms", "120000");
    // After each batch: who is killed before the snapshot's end is remembered takes another one.
    settings.put("offset.flush.interval.ms", "0");
    settings.put("transforms.outbox.destination", topic);
    settings.putAll(connector());
    return settings;
  }

  final URI address() {
    return URI.create(database.server().jdbcUrl().substring("jdbc:".length()));
  }

  final String table() {
    return name + ".outbox_message";
  }

  final String role() {
    return name + "_role";
  }

  final String file(String file) {
    return directory.resolve(file).toString();
  }

  final void append(List<OutboxMessage> messages) {
    database.inTransaction(false, connection -> store.append(connection, messages));
  }

  /** How many rows the statement changed. */
  final int update(String sql, Object... parameters) {
    try (Connection connection = database.pool.getConnection();
        PreparedStatement statement = prepare(connection, sql, parameters)) {
      return statement.executeUpdate();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The first row as texts. */
  final List<String> row(String sql, Object... parameters) {
    try (Connection connection = database.pool.getConnection();
        PreparedStatement statement = prepare(connection, sql, parameters);
        ResultSet rows = statement.executeQuery()) {
      rows.next();
      String[] texts = new String[rows.getMetaData().getColumnCount()];
      for (int i = 0; i < texts.length; i++) {
        texts[i] = rows.getString(i + 1);
      }
      return List.of(texts);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static PreparedStatement prepare(Connection connection, String sql, Object[] parameters)
      throws SQLException {
    connection.setAutoCommit(true);
    PreparedStatement statement = connection.prepareStatement(sql);
    for (int i = 0; i < parameters.length; i++) {
      statement.setObject(i + 1, parameters[i]);
    }
    return statement;
  }

  final long messages() {
    return Long.parseLong(database.query("select count(*) from outbox_message"));
  }

  /** Drops the role and the schema, and deletes the engine's files. */
  @Override
  public void close() {
    database.execute("drop user " + role());
    database.close();
    try {
      Files.deleteIfExists(Path.of(file("offsets")));
      Files.deleteIfExists(Path.of(file("schema")));
      Files.delete(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** On a PostgreSQL whose wal_level is logical. */
  static final class Postgres extends Source {
    private static final String COUNT_ACTIVE =
        "select count(*) from pg_replication_slots where slot_name = ? and active";
    private static final String DROP =
        "select count(pg_drop_replication_slot(slot_name)) from pg_replication_slots"
            + " where slot_name = ?";

    Postgres(DatabaseServer server) {
      this(new dev.outbox.store.postgres.Database(server));
    }

    private Postgres(TestDatabase database) {
      super(database, PostgresOutboxStore.of(database.pool));
    }

    @Override
    String label() {
      return "PostgreSQL";
    }

    @Override
    Map<String, String> page() {
      return Page.properties("connector, PostgreSQL", "public.outbox_message", table());
    }

    @Override
    Map<String, String> connector() {
      return Map.of(
          "database.dbname",
          address().getPath().substring(1),
          "slot.name",
          name,
          "publication.name",
          name,
          // The server needs a moment to see that a killed process is gone.
          "slot.max.retries",
          "100",
          "slot.retry.delay.ms",
          "200");
    }

    /** A slot that nobody reads keeps the log of the whole server. */
    @Override
    public void close() {
      Awaitility.await()
          .atMost(Duration.ofMinutes(1))
          .until(() -> row(COUNT_ACTIVE, name).get(0).equals("0"));
      row(DROP, name);
      database.execute("drop publication " + name, "drop owned by " + role());
      super.close();
    }
  }

  /** On a MySQL that writes a binlog. */
  static final class Mysql extends Source {
    Mysql(DatabaseServer server) {
      this(new dev.outbox.store.mysql.Database(server));
    }

    private Mysql(TestDatabase database) {
      super(database, MysqlOutboxStore.of(database.pool));
    }

    @Override
    String label() {
      return "MySQL";
    }

    /** What differs from PostgreSQL's, and what both have. */
    @Override
    Map<String, String> page() {
      Map<String, String> settings =
          Page.properties("connector, PostgreSQL", "public.outbox_message", table());
      settings.keySet().removeIf(Mysql::isPostgres);
      settings.putAll(Page.properties("connector, MySQL", "shop.outbox_message", table()));
      settings.keySet().removeIf(setting -> setting.startsWith("schema.history.internal.kafka."));
      return settings;
    }

    private static boolean isPostgres(String setting) {
      return setting.startsWith("slot.")
          || setting.startsWith("publication.")
          || setting.equals("heartbeat.action.query")
          || setting.equals("message.prefix.exclude.list")
          || setting.equals("plugin.name")
          || setting.equals("database.dbname");
    }

    @Override
    Map<String, String> connector() {
      return Map.of(
          "database.server.id",
          Integer.toString(100_000 + name.hashCode() % 50_000),
          "database.include.list",
          name,
          "database.ssl.mode",
          "disabled",
          "driver.allowPublicKeyRetrieval",
          "true",
          "schema.history.internal",
          "io.debezium.storage.file.history.FileSchemaHistory",
          "schema.history.internal.file.filename",
          file("schema"));
    }
  }
}
