package dev.outbox.dev.database;

import static java.util.stream.Collectors.joining;

import dev.outbox.cli.DatabaseOptions;
import java.util.EnumSet;
import java.util.Set;
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
          "Which database is started: postgres, mysql or mariadb; default: postgres. For mongo,"
              + " which is for the demo, a container, where Docker runs.")
  private @Nullable StoreKind store;

  @ArgGroup(
      exclusive = false,
      heading =
          "Your own database (a schema of its own is used; on MySQL, MariaDB and MongoDB, a database):%n")
  private @Nullable DatabaseOptions database;

  private final Set<StoreKind> known;

  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // set by picocli
  private CommandSpec spec;

  /**
   * @param known those that the command works on
   */
  public ServerOptions(Set<StoreKind> known) {
    this.known = EnumSet.copyOf(known);
  }

  /**
   * Looks at what is asked for; nothing is started yet.
   *
   * @throws ParameterException when the command does not work on it
   */
  public void check() {
    if (store != null && database != null) {
      throw new ParameterException(
          spec.commandLine(), "--store says what to start, --url names your own: give one of them");
    }
    if (!known.contains(kind())) {
      throw new ParameterException(
          spec.commandLine(),
          "this command does not work on %s: give one of %s"
              .formatted(kind(), known.stream().map(StoreKind::toString).collect(joining(", "))));
    }
  }

  /** The user's own, which has answered, or one that is started. */
  public StartedServer open() {
    check();
    DatabaseOptions own = database;
    if (own == null) {
      return kind().start();
    }
    own.withPassword(() -> StoreKind.connect(own.address())).close();
    return new StartedServer(own.address(), null, () -> {});
  }

  private StoreKind kind() {
    if (database != null) {
      return StoreKind.of(database.address().url());
    }
    return store != null ? store : StoreKind.POSTGRES;
  }
}
