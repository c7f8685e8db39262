package dev.outbox.cli;

import java.io.Console;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where the outbox is. */
public final class DatabaseOptions {
  public static final String PASSWORD_VARIABLE = "OUTBOX_PASSWORD";

  @Option(
      names = "--url",
      required = true,
      paramLabel = "URL",
      description =
          "The database, as jdbc:postgresql://host:5432/name, jdbc:mysql://host:3306/name,"
              + " jdbc:mariadb://host:3306/name, jdbc:sqlserver://host:1433;databaseName=name or"
              + " mongodb://host:27017/name?replicaSet=rs0.")
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

  /** A database that has answered; asks for the password when the server wants one. */
  Database connect() {
    return withPassword(() -> Database.connect(address()));
  }

  /** The same, with an outbox of such names in it. */
  Database connect(Tables tables) {
    return withPassword(() -> Database.connectToOutbox(address(tables)));
  }

  private Database withPassword(Supplier<Database> connect) {
    try {
      return connect.get();
    } catch (Failure.NoPassword e) {
      Console console = System.console();
      if (console == null) {
        throw e;
      }
      char[] answer = console.readPassword("Password of %s: ", user());
      password = answer == null ? "" : new String(answer);
      return connect.get();
    }
  }

  /** The names of the tables. */
  static final class Tables {
    @Option(
        names = "--schema",
        description =
            "The schema of the tables, on MySQL and MariaDB the database; default: the"
                + " connection's current one. Not on MongoDB, whose URL names the database.")
    private @Nullable String schema;

    @Option(
        names = "--prefix",
        defaultValue = Address.DEFAULT_PREFIX,
        description = "Before each table's or collection's name; default: ${DEFAULT-VALUE}.")
    private String prefix = Address.DEFAULT_PREFIX;

    @Nullable String schema() {
      return schema;
    }

    String prefix() {
      return prefix;
    }
  }
}
