package dev.outbox.cli;

import dev.outbox.spi.store.PauseStore;
import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "pause",
    mixinStandardHelpOptions = true,
    description = {
      "Let relays publish nothing, or nothing of one aggregate type, until it is resumed. They"
          + " notice within about a second; what they have in hand they finish. Producers append as"
          + " before. Shows what is paused."
    },
    footer = {
      "",
      "Examples:",
      "  outbox pause --type order --reason \"the warehouse moves\" --url URL",
      "  outbox pause --url URL"
    })
final class PauseCommand extends StoreCommand<PauseStore> {
  @Option(
      names = "--type",
      paramLabel = "TYPE",
      description = "Only messages of this aggregate type; default: all.")
  private @Nullable String type;

  @Mixin private final Person person = new Person();

  @Mixin private final Paused paused = new Paused();

  PauseCommand() {
    super(PauseStore.class);
  }

  @Override
  int run(PauseStore store, PrintWriter out) {
    Paused.verify(store);
    try {
      store.pause(type, person.who());
    } catch (IllegalArgumentException e) {
      throw new Failure("--type: " + e.getMessage(), e);
    }
    paused.print(store, out);
    return 0;
  }
}
