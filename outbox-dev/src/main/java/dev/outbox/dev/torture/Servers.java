package dev.outbox.dev.torture;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Archive;
import dev.outbox.dev.BrokerKind;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.EmbeddedServer;
import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The database and the broker, with a proxy before each that all processes use. */
final class Servers implements AutoCloseable {
  private final Dialect dialect;
  private final TcpProxy toDatabase = new TcpProxy();
  private final TcpProxy toBroker = new TcpProxy();
  private final DatabaseServer database;
  private final Archive archive;
  private final BrokerKind brokerKind;
  private final Broker.Started broker;
  private final HikariDataSource pool;

  Servers(Dialect dialect, BrokerKind brokerKind, Archive archive, int keys) throws Exception {
    this.dialect = dialect;
    this.archive = archive;
    this.brokerKind = brokerKind;
    database = dialect.start();
    toDatabase.target(URI.create(database.jdbcUrl().substring("jdbc:".length())).getPort());
    broker = Broker.start(brokerKind, toBroker);
    pool = pool();
    store().migrate();
    inbox().migrate();
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      for (String sql : ProducerMain.TABLES.split(";")) {
        statement.execute(sql);
      }
      statement.execute(Handling.TABLE);
      for (int i = 0; i < keys; i++) {
        statement.execute("insert into torture_key (name) values ('key-%d')".formatted(i));
      }
    }
    client().createTopics();
  }

  /** Directly, not by way of the proxy. */
  private HikariDataSource pool() {
    HikariConfig hikari = new HikariConfig();
    hikari.setJdbcUrl(database.jdbcUrl());
    hikari.setUsername(database.user());
    hikari.setPassword(database.password());
    hikari.setMaximumPoolSize(4);
    hikari.setConnectionTimeout(2_000);
    return new HikariDataSource(hikari);
  }

  /** A connection of one's own, directly. */
  Connection connect() throws SQLException {
    return DriverManager.getConnection(database.jdbcUrl(), database.user(), database.password());
  }

  /** Directly. */
  JdbcOutboxStore store() {
    return dialect.store(pool, archive);
  }

  /** The same of consumers. */
  JdbcInboxStore inbox() {
    return dialect.inbox(pool).build();
  }

  Dialect dialect() {
    return dialect;
  }

  /** What a process needs to reach both. */
  Map<String, String> settings() {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("dialect", dialect.name());
    settings.put("archive", archive.name());
    settings.put("url", dialect.url(database, toDatabase.port()));
    settings.put("user", database.user());
    settings.put("password", database.password());
    settings.put("broker", brokerKind.name());
    settings.put("broker-address", broker.address());
    return settings;
  }

  /** For clients of our own, by way of the proxy too. */
  Broker client() {
    return Broker.of(brokerKind, broker.address());
  }

  TcpProxy toDatabase() {
    return toDatabase;
  }

  TcpProxy toBroker() {
    return toBroker;
  }

  EmbeddedServer database() {
    return database.embedded().orElseThrow();
  }

  EmbeddedServer broker() {
    return broker.server();
  }

  /** The rows of a query, a list of columns each, as text. */
  List<List<String>> rows(String sql, Object... parameters) throws SQLException {
    try (Connection connection = pool.getConnection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < parameters.length; i++) {
        statement.setObject(i + 1, parameters[i]);
      }
      try (ResultSet rows = statement.executeQuery()) {
        List<List<String>> all = new ArrayList<>();
        while (rows.next()) {
          List<String> row = new ArrayList<>();
          for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
            row.add(String.valueOf(rows.getString(i)));
          }
          all.add(row);
        }
        return all;
      }
    }
  }

  /** What must not be, a sentence each: see {@link Dialect#wrong()}. */
  List<String> wrong() throws SQLException {
    List<String> found = new ArrayList<>();
    for (String sql : dialect.wrong()) {
      rows(sql).forEach(row -> found.add(row.get(0)));
    }
    return found;
  }

  long number(String sql) throws SQLException {
    return Long.parseLong(rows(sql).get(0).get(0));
  }

  /** Saves what the servers logged. */
  void copyLogs(Path directory) throws IOException {
    for (EmbeddedServer server : List.of(database(), broker())) {
      if (Files.exists(server.log())) {
        Files.copy(
            server.log(),
            directory.resolve(server == broker() ? "broker.log" : "database.log"),
            StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }

  @Override
  public void close() throws Exception {
    pool.close();
    toDatabase.close();
    toBroker.close();
    broker().close();
    database.close();
  }
}
