package dev.outbox.cli;

import dev.outbox.store.jdbc.JdbcOutboxStore;
import java.io.Console;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where the outbox is. */
public final class DatabaseOptions {
  public static final String PASSWORD_VARIABLE = "OUTBOX_PASSWORD";

  @Option(
      names = "--url",
      required = true,
      paramLabel = "JDBC-URL",
      description =
          "The database, as jdbc:postgresql://host:5432/name, jdbc:mysql://host:3306/name,"
              + " jdbc:mariadb://host:3306/name or jdbc:sqlserver://host:1433;databaseName=name.")
  @SuppressWarnings("NullAway.Init") // required
  private String url;

  @Option(names = "--user", description = "The database user.")
  private @Nullable String user;

  @Option(
      names = "--password",
      arity = "0..1",
      interactive = true,
      description =
          "The password; without a value it is asked for. Others may see what stands in a command"
              + " line: rather set the variable "
              + PASSWORD_VARIABLE
              + ".")
  private @Nullable String password;

  public String url() {
    return url;
  }

  StoreKind kind() {
    return StoreKind.of(url);
  }

  public String user() {
    return user == null ? "" : user;
  }

  public String password() {
    String given = password != null ? password : System.getenv(PASSWORD_VARIABLE);
    Secrets.hide(given);
    return given == null ? "" : given;
  }

  /** A data source that was tried; asks for the password when the server wants one. */
  public DataSource connect() {
    DataSource dataSource = dataSource(url, user(), password());
    try {
      check(url, dataSource);
      return dataSource;
    } catch (SQLException e) {
      Console console = System.console();
      boolean asked = password().isEmpty() && kind().refused().equals(e.getSQLState());
      if (!asked || console == null) {
        throw unreachable(url, e);
      }
      char[] answer = console.readPassword("Password of %s: ", user());
      password = answer == null ? "" : new String(answer);
      return tried(url, user(), password());
    }
  }

  /**
   * A data source that was tried.
   *
   * @throws Failure when nothing answers, or not to this user
   */
  public static DataSource tried(String url, String user, String password) {
    DataSource dataSource = dataSource(url, user, password);
    try {
      check(url, dataSource);
      return dataSource;
    } catch (SQLException e) {
      throw unreachable(url, e);
    }
  }

  private static void check(String url, DataSource dataSource) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      String problem = StoreKind.of(url).database().problem(connection);
      if (problem != null) {
        throw new Failure(problem);
      }
    }
  }

  private static Failure unreachable(String url, SQLException e) {
    return new Failure("cannot connect to %s: %s".formatted(url, reason(url, e)), e);
  }

  /** Drivers wrap what the network said in sentences that do not. */
  private static String reason(String url, SQLException e) {
    for (Throwable t = e; t != null; t = t.getCause()) {
      if (t instanceof UnknownHostException) {
        return "unknown host " + t.getMessage();
      }
      if (t instanceof ConnectException) {
        return t.getMessage() + "; is the server running there?";
      }
    }
    boolean mysqlsPlugin = String.valueOf(e.getMessage()).contains("caching_sha2_password");
    return mysqlsPlugin && url.startsWith("jdbc:mariadb:")
        ? "the server seems to be MySQL: begin its URL with jdbc:mysql: (" + e.getMessage() + ")"
        : String.valueOf(e.getMessage());
  }

  private static DataSource dataSource(String url, String user, String password) {
    Secrets.hide(password);
    return new DriverDataSource(url, user, password);
  }

  /** The names of the tables. */
  static final class Tables {
    @Option(
        names = "--schema",
        description =
            "The schema of the tables, on MySQL and MariaDB the database; default: the"
                + " connection's current one.")
    private @Nullable String schema;

    @Option(
        names = "--prefix",
        defaultValue = "outbox_",
        description = "Before each table's name; default: ${DEFAULT-VALUE}.")
    private String prefix = "outbox_";

    @Nullable String schema() {
      return schema;
    }

    String prefix() {
      return prefix;
    }

    /** Refuses a schema that is not there; after {@link #store}, which checks the name. */
    void checkSchema(StoreKind kind, DataSource dataSource) {
      if (schema == null) {
        return;
      }
      try (Connection connection = dataSource.getConnection()) {
        if (!kind.database().hasSchema(connection, schema)) {
          throw new Failure(
              "there is no schema %s that this user may use: make it with \"create schema %s\""
                  .formatted(schema, schema));
        }
      } catch (SQLException e) {
        throw new Failure("the schemas cannot be read: " + e.getMessage(), e);
      }
    }

    JdbcOutboxStore store(StoreKind kind, DataSource dataSource) {
      return kind.store(dataSource, schema, prefix);
    }
  }
}
