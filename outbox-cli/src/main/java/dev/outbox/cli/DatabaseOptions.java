package dev.outbox.cli;

import java.io.Console;
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

  StoreKind kind() {
    return StoreKind.of(url);
  }

  private String user() {
    return user == null ? "" : user;
  }

  private String password() {
    String given = password != null ? password : System.getenv(PASSWORD_VARIABLE);
    return given == null ? "" : given;
  }

  /** Where the URL leads. */
  public Address address() {
    return new Address(url, user(), password());
  }

  /** {@link #address}, with the names of the tables. */
  Address address(Tables tables) {
    return new Address(url, user(), password(), tables.schema, tables.prefix);
  }

  /** {@link #connect(Tables)} where tables are of no interest. */
  Database connect() {
    return connect(new Tables());
  }

  /** A database that has answered; asks for the password when the server wants one. */
  Database connect(Tables tables) {
    try {
      return Database.connect(address(tables));
    } catch (Failure.NoPassword e) {
      Console console = System.console();
      if (console == null) {
        throw e;
      }
      char[] answer = console.readPassword("Password of %s: ", user());
      password = answer == null ? "" : new String(answer);
      return Database.connect(address(tables));
    }
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
        defaultValue = Address.DEFAULT_PREFIX,
        description = "Before each table's name; default: ${DEFAULT-VALUE}.")
    private String prefix = Address.DEFAULT_PREFIX;

    @Nullable String schema() {
      return schema;
    }

    String prefix() {
      return prefix;
    }
  }
}
