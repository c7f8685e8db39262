package dev.outbox.dev;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.cli.Address;
import dev.outbox.cli.Failure;
import dev.outbox.cli.Stores;
import dev.outbox.dev.bench.JdbcKind;
import dev.outbox.dev.demo.JdbcOrderService;
import dev.outbox.dev.demo.JdbcShippingService;
import dev.outbox.dev.demo.OrderService;
import dev.outbox.dev.demo.ShippingService;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** A relational database. */
final class DatabaseByJdbc implements Database {
  private final JdbcKind kind;
  private final Address address;
  private final HikariDataSource dataSource;

  private DatabaseByJdbc(JdbcKind kind, Address address, int connections) {
    this.kind = kind;
    this.address = address;
    dataSource =
        Jdbc.pool(
            address.url(), address.user(), address.password(), connections, Duration.ofSeconds(10));
  }

  static DatabaseByJdbc at(JdbcKind kind, Address address) {
    return new DatabaseByJdbc(kind, address, 1);
  }

  @Override
  public DatabaseByJdbc pool(int connections) {
    return new DatabaseByJdbc(kind, address, connections);
  }

  @Override
  public void check() {
    Stores.connect(address).close();
  }

  @Override
  public String server() {
    try (Connection connection = dataSource.getConnection()) {
      DatabaseMetaData about = connection.getMetaData();
      return "%s %s, by %s %s"
          .formatted(
              kind.name(),
              about.getDatabaseProductVersion(),
              about.getDriverName(),
              about.getDriverVersion());
    } catch (SQLException e) {
      throw new Failure("the server's version cannot be read: " + e.getMessage(), e);
    }
  }

  @Override
  public JdbcOutboxStore store() {
    return kind.store(dataSource).schema(address.schema()).prefix(address.prefix()).build();
  }

  @Override
  public OrderService orderService() {
    return new JdbcOrderService(dataSource, store(), qualified("demo_order"));
  }

  @Override
  public ShippingService shippingService() {
    return new JdbcShippingService(
        dataSource, kind.inbox(dataSource).schema(address.schema()).build(), this::qualified);
  }

  private String qualified(String table) {
    return address.schema() == null ? table : address.schema() + "." + table;
  }

  @Override
  public void createSchema(String name) {
    try (Connection connection = dataSource.getConnection()) {
      String grant = kind.grant(connection);
      try {
        kind.createSchema(connection, name);
      } catch (SQLException e) {
        throw new Failure(
            "no schema can be made in this database: %s; as who may give rights, run: %s"
                .formatted(e.getMessage(), grant),
            e);
      }
    } catch (SQLException e) {
      throw new Failure("no schema can be made in this database: " + e.getMessage(), e);
    }
  }

  @Override
  public List<String> schemas(String begin) {
    try (Connection connection = dataSource.getConnection()) {
      return JdbcKind.schemas(connection, begin);
    } catch (SQLException e) {
      throw new Failure("the schemas cannot be read: " + e.getMessage(), e);
    }
  }

  @Override
  public void removeSchemas(String begin) {
    try (Connection connection = dataSource.getConnection()) {
      kind.removeSchemas(connection, begin);
    } catch (SQLException e) {
      throw new Failure(
          "the schemas %s* could not be removed: %s".formatted(begin, e.getMessage()), e);
    }
  }

  @Override
  public Address in(String schema) {
    return new Address(address.url(), address.user(), address.password(), schema, address.prefix());
  }

  @Override
  public Address named(String name) {
    return new Address(
        kind.named(address.url(), name),
        address.user(),
        address.password(),
        address.schema(),
        address.prefix());
  }

  @Override
  public void close() {
    dataSource.close();
  }
}
