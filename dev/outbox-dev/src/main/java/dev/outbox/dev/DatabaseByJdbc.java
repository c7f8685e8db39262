package dev.outbox.dev;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.cli.Address;
import dev.outbox.cli.Failure;
import dev.outbox.cli.Stores;
import dev.outbox.dev.bench.JdbcKind;
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

  DatabaseByJdbc(JdbcKind kind, Address address) {
    this.kind = kind;
    this.address = address;
    dataSource =
        Jdbc.pool(address.url(), address.user(), address.password(), 1, Duration.ofSeconds(10));
  }

  @Override
  public void check() {
    Stores.connect(address).close();
  }

  /** What is asked of a connection. */
  private interface Question<R> {
    R of(Connection connection) throws SQLException;
  }

  private <R> R ask(String problem, Question<R> question) {
    try (Connection connection = dataSource.getConnection()) {
      return question.of(connection);
    } catch (SQLException e) {
      throw new Failure(problem + ": " + e.getMessage(), e);
    }
  }

  @Override
  public String server() {
    return ask(
        "the server's version cannot be read",
        connection -> {
          DatabaseMetaData about = connection.getMetaData();
          return "%s %s, by %s %s"
              .formatted(
                  kind.name(),
                  about.getDatabaseProductVersion(),
                  about.getDriverName(),
                  about.getDriverVersion());
        });
  }

  @Override
  public void createSchema(String name) {
    boolean unused =
        ask(
            "no schema can be made in this database",
            connection -> {
              String grant = kind.grant(connection);
              try {
                kind.createSchema(connection, name);
                return true;
              } catch (SQLException e) {
                throw new Failure(
                    "no schema can be made in this database: %s; as who may give rights, run: %s"
                        .formatted(e.getMessage(), grant),
                    e);
              }
            });
  }

  @Override
  public List<String> schemas(String begin) {
    return ask("the schemas cannot be read", connection -> JdbcKind.schemas(connection, begin));
  }

  @Override
  public void removeSchemas(String begin) {
    boolean unused =
        ask(
            "the schemas %s* could not be removed".formatted(begin),
            connection -> {
              kind.removeSchemas(connection, begin);
              return true;
            });
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
