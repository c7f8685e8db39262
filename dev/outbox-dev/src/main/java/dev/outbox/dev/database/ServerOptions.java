package dev.outbox.dev.database;

import dev.outbox.cli.DatabaseOptions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Which database: one that is started for the command, or the user's own. */
public final class ServerOptions {
  @Option(
      names = "--store",
      paramLabel = "STORE",
      description =
          "Which database is started: postgres, mysql or mariadb; default: postgres. For mongo a"
              + " container, where Docker runs.")
  private @Nullable StoreKind store;

  @ArgGroup(
      exclusive = false,
      heading =
          "Your own database (a schema of its own is used; on MySQL, MariaDB and MongoDB, a database):%n")
  private @Nullable DatabaseOptions database;

  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // set by picocli
  private CommandSpec spec;

  /**
   * The user's own, or null.
   *
   * @throws ParameterException when it is of a kind that the command does not know
   */
  public @Nullable DatabaseOptions own() {
    if (store != null && database != null) {
      throw new ParameterException(
          spec.commandLine(), "--store says what to start, --url names your own: give one of them");
    }
    if (kind() == StoreKind.REDIS) {
      throw new ParameterException(
          spec.commandLine(),
          "Redis is for tck and torture, and this command does not know it: give another database");
    }
    return database;
  }

  /** The user's own, which has answered, or one that is started. */
  public StartedServer open() {
    DatabaseOptions own = own();
    if (own == null) {
      return kind().start();
    }
    own.withPassword(() -> StoreKind.connect(own.address())).close();
    return new StartedServer(own.address(), null, () -> {});
  }

  public StoreKind kind() {
    return database != null ? StoreKind.of(database.address().url()) : StoreKind.orDefault(store);
  }
}
