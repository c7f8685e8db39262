package dev.outbox.example.readme;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.OutboxMessage;
import dev.outbox.embedded.DatabaseServer;
import io.agroal.api.AgroalDataSource;
import io.agroal.api.configuration.supplier.AgroalDataSourceConfigurationSupplier;
import io.agroal.api.security.NamePrincipal;
import io.agroal.api.security.SimplePassword;
import io.agroal.narayana.NarayanaTransactionIntegration;
import jakarta.transaction.TransactionManager;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.UUID;
import org.jdbi.v3.core.Jdbi;

/** The application that the snippets are from: a schema of its own with one table of orders. */
final class Shop implements AutoCloseable {
  private final DatabaseServer server = DatabaseServer.postgres();
  private final String schema =
      "outbox_readme_" + UUID.randomUUID().toString().replace('-', '_').substring(0, 13);
  final HikariDataSource dataSource;

  Shop() {
    execute("create schema " + schema);
    dataSource = dataSource(server.jdbcUrl(), server.user(), server.password(), schema);
    Jdbi.create(dataSource)
        .useHandle(
            handle ->
                handle.execute("create table orders (id text primary key, state text not null)"));
  }

  /** Another pool, which a transaction manager enlists. */
  AgroalDataSource agroal(
      TransactionManager manager, TransactionSynchronizationRegistry transactions)
      throws SQLException {
    return AgroalDataSource.from(
        new AgroalDataSourceConfigurationSupplier()
            .connectionPoolConfiguration(
                pool ->
                    pool.maxSize(2)
                        .transactionIntegration(
                            new NarayanaTransactionIntegration(manager, transactions))
                        .connectionFactoryConfiguration(
                            factory ->
                                factory
                                    .jdbcUrl(server.jdbcUrl())
                                    .principal(new NamePrincipal(server.user()))
                                    .credential(new SimplePassword(server.password()))
                                    .initialSql("set search_path to " + schema))));
  }

  static void placeOrder(Connection connection, String id) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("insert into orders values (?, 'PLACED')")) {
      insert.setString(1, id);
      insert.executeUpdate();
    }
  }

  static OutboxMessage paid(String order) {
    return OutboxMessage.builder()
        .aggregate("order", order)
        .eventType("OrderPaid")
        .payload("{}")
        .build();
  }

  String state(String order) {
    return Jdbi.create(dataSource)
        .withHandle(
            handle ->
                handle
                    .createQuery("select state from orders where id = :id")
                    .bind("id", order)
                    .mapTo(String.class)
                    .one());
  }

  /** For {@link #dataSource(String, String, String, String)} in another process. */
  Map<String, String> settings() {
    return Map.of(
        "url", server.jdbcUrl(),
        "user", server.user(),
        "password", server.password(),
        "schema", schema);
  }

  static HikariDataSource dataSource(String url, String user, String password, String schema) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setUsername(user);
    config.setPassword(password);
    config.setMinimumIdle(0);
    config.setConnectionInitSql("set search_path to " + schema);
    return new HikariDataSource(config);
  }

  private void execute(String sql) {
    try (Connection connection =
            DriverManager.getConnection(server.jdbcUrl(), server.user(), server.password());
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() throws Exception {
    dataSource.close();
    execute("drop schema " + schema + " cascade");
    server.close();
  }
}
