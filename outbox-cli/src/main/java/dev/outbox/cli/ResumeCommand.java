package dev.outbox.cli;

import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.PauseStore;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "resume",
    description = {
      "End a pause: with --type the one of that aggregate type, else the one of all messages."
          + " Others stay. The first messages go out within about a second, those of many keys"
          + " within half a minute. Shows what is still paused.",
      "Exit codes: 0 resumed; 1 there was no such pause; 2 bad usage, or it could not be done."
    },
    footer = {"", "Example:", "  outbox resume --type order --url URL"})
final class ResumeCommand extends PausingCommand {
  @Option(
      names = "--type",
      paramLabel = "TYPE",
      description = "The pause of this aggregate type; default: the one of all messages.")
  private @Nullable String type;

  @Override
  boolean change(PauseStore store, Who who) {
    return store.resume(type, who);
  }
}
