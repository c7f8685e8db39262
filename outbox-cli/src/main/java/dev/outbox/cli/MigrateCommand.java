package dev.outbox.cli;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
    name = "migrate",
    mixinStandardHelpOptions = true,
    description = "Make or update the tables, or print the statements for doing it by hand.")
final class MigrateCommand implements Callable<Integer> {
  @ArgGroup(exclusive = false)
  private @Nullable DatabaseOptions database;

  @Mixin private final DatabaseOptions.Tables tables = new DatabaseOptions.Tables();

  @Option(names = "--print", description = "Print the statements; needs no database.")
  private boolean print;

  @Option(
      names = "--store",
      paramLabel = "STORE",
      description =
          "Whose statements to print without --url: ${COMPLETION-CANDIDATES}; default: postgres.")
  private @Nullable StoreKind printed;

  @Spec
  @SuppressWarnings("NullAway.Init") // set by picocli
  private CommandSpec spec;

  @Override
  public Integer call() {
    Logs.off();
    if (print) {
      // Nothing connects.
      try (Database none =
          Database.at(DatabaseOptions.addressOrExample(database, printed, tables))) {
        spec.commandLine().getOut().print(none.store().ddl());
        spec.commandLine().getOut().flush();
        return 0;
      }
    }
    if (database == null) {
      throw new ParameterException(
          spec.commandLine(), "Missing required option: '--url=URL' (or --print)");
    }
    try (Database connected = database.connect(tables)) {
      var store = connected.store();
      store.migrate();
      store.verify();
    }
    spec.commandLine().getOut().println("The outbox " + tables.prefix() + "* is up to date.");
    return 0;
  }
}
