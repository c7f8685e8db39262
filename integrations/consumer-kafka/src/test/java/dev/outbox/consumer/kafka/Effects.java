package dev.outbox.consumer.kafka;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.store.postgres.PostgresInboxStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * A consumer's database: an inbox, and a table in which nothing hides that an effect came twice.
 */
final class Effects implements AutoCloseable {
  private final HikariDataSource dataSource;
  final PostgresInboxStore inbox;

  Effects(Map<String, String> settings) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(settings.get("url"));
    config.setUsername(settings.get("user"));
    config.setPassword(settings.get("password"));
    config.setSchema(settings.get("schema"));
    config.setMaximumPoolSize(4);
    dataSource = new HikariDataSource(config);
    inbox = PostgresInboxStore.builder(dataSource).schema(settings.get("schema")).build();
  }

  static Effects migrated(Map<String, String> settings) throws SQLException {
    Effects effects = new Effects(settings);
    effects.inbox.migrate();
    effects.execute(
        "create table effect (nr bigint generated always as identity, id text, part int, at bigint)");
    effects.execute("create table letter (id text, why text)");
    return effects;
  }

  private void execute(String sql) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  KafkaInboxConsumer.Builder<Connection, String, String> consumer(
      Consumer<String, String> consumer, String topic) {
    return KafkaInboxConsumer.builder(consumer, inbox, Transactions.of(dataSource))
        .name("shipping")
        .topics(topic)
        .handler(Effects::add);
  }

  static void add(Connection connection, ConsumerRecord<String, String> record)
      throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("insert into effect (id, part, at) values (?, ?, ?)")) {
      insert.setString(1, record.value());
      insert.setInt(2, record.partition());
      insert.setLong(3, record.offset());
      insert.executeUpdate();
    }
  }

  static void letter(Connection connection, ConsumerRecord<String, String> record, Throwable why)
      throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("insert into letter (id, why) values (?, ?)")) {
      insert.setString(1, record.value());
      insert.setString(2, why.getMessage());
      insert.executeUpdate();
    }
  }

  /** In the order in which they happened. */
  List<String> ids() throws SQLException {
    return texts("select id from effect order by nr");
  }

  List<String> ids(int partition) throws SQLException {
    return texts("select id from effect where part = %d order by nr".formatted(partition));
  }

  List<String> letters() throws SQLException {
    return texts("select id || ': ' || why from letter");
  }

  /** For another transaction, in this database. */
  boolean isAnyoneWaiting() throws SQLException {
    return !texts(
            "select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()")
        .isEmpty();
  }

  private List<String> texts(String sql) throws SQLException {
    List<String> texts = new ArrayList<>();
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      while (rows.next()) {
        texts.add(rows.getString(1));
      }
    }
    return texts;
  }

  @Override
  public void close() {
    dataSource.close();
  }
}
