package dev.outbox.cli;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "grants",
    mixinStandardHelpOptions = true,
    description = {
      "Print the statements that give producers and relays the rights that they need, and no more.",
      "Connects to nothing; the URL says which database it is for."
    })
final class GrantsCommand implements Callable<Integer> {
  @ArgGroup(exclusive = false)
  private @Nullable DatabaseOptions database;

  @Mixin private final DatabaseOptions.Tables tables = new DatabaseOptions.Tables();

  @Option(
      names = "--store",
      paramLabel = "STORE",
      description = "Whose statements without --url: ${COMPLETION-CANDIDATES}; default: postgres.")
  private @Nullable StoreKind store;

  @Option(
      names = "--producer",
      required = true,
      paramLabel = "ROLE",
      description = "The role or user that appends.")
  @SuppressWarnings("NullAway.Init") // required
  private String producer;

  @Option(
      names = "--relay",
      required = true,
      paramLabel = "ROLE",
      description = "The role or user of relays, and of status and dead-letters.")
  @SuppressWarnings("NullAway.Init") // required
  private String relay;

  @Spec
  @SuppressWarnings("NullAway.Init") // set by picocli
  private CommandSpec spec;

  @Override
  public Integer call() {
    Logs.off();
    try (Database none = Database.at(DatabaseOptions.addressOrExample(database, store, tables))) {
      spec.commandLine().getOut().print(none.grants(producer, relay));
      spec.commandLine().getOut().flush();
    }
    return 0;
  }
}
