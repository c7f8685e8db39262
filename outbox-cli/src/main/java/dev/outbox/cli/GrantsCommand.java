package dev.outbox.cli;

import dev.outbox.spi.GrantsStore;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
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
  @Mixin private final OutboxOptions outbox = new OutboxOptions();

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
    PrintWriter out = spec.commandLine().getOut();
    out.print(outbox.print(store -> Stores.as(GrantsStore.class, store).grants(producer, relay)));
    out.flush();
    return 0;
  }
}
