package dev.outbox.dev.database;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.cli.Address;
import dev.outbox.cli.Failure;
import dev.outbox.cli.Stores;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** A relational database. */
public final class DatabaseByJdbc implements Database {
  private final JdbcKind kind;
  private final Address address;
  private final HikariDataSource dataSource;

  DatabaseByJdbc(JdbcKind kind, Address address) {
    this.kind = kind;
    this.address = address;
    dataSource = Jdbc.patient(kind, address, "admin", 1, Duration.ofSeconds(10));
  }

  @Override
  public void check() {
    Stores.connect(address).close();
  }

  /** What is asked of a connection. */
  public interface Question<R> {
    R of(Connection connection) throws SQLException;
  }

  /** Asks it, on the one connection that there is for such. */
  public <R> R ask(String problem, Question<R> question) {
    try (Connection connection = dataSource.getConnection()) {
      return question.of(connection);
    } catch (SQLException e) {
      throw new Failure(problem + ": " + e.getMessage(), e);
    }
  }

  public JdbcKind kind() {
    return kind;
  }

  @Override
  public String server() {
    return ask(
        "the server's version cannot be read",
        connection -> {
          DatabaseMetaData about = connection.getMetaData();
          return "%s %s, by %s %s"
              .formatted(
                  kind,
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
