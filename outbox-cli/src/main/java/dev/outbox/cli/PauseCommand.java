package dev.outbox.cli;

import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.PauseStore;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "pause",
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
final class PauseCommand extends PausingCommand {
  @Option(
      names = "--type",
      paramLabel = "TYPE",
      description = "Only messages of this aggregate type; default: all.")
  private @Nullable String type;

  @Override
  boolean change(PauseStore store, Who who) {
    store.pause(type, who);
    return true;
  }
}
