package dev.outbox.cli;

import dev.outbox.spi.store.PauseStore;
import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "resume",
    mixinStandardHelpOptions = true,
    description = {
      "End a pause: with --type the one of that aggregate type, else the one of all messages."
          + " Others stay. The first messages go out within about a second, those of many keys"
          + " within half a minute. Shows what is still paused.",
      "Exit codes: 0 resumed; 1 there was no such pause; 2 bad usage, or it could not be done."
    },
    footer = {"", "Example:", "  outbox resume --type order --url URL"})
final class ResumeCommand extends StoreCommand<PauseStore> {
  @Option(
      names = "--type",
      paramLabel = "TYPE",
      description = "The pause of this aggregate type; default: the one of all messages.")
  private @Nullable String type;

  @Mixin private final Person person = new Person();

  @Mixin private final Paused paused = new Paused();

  ResumeCommand() {
    super(PauseStore.class);
  }

  @Override
  int run(PauseStore store, PrintWriter out) {
    Paused.verify(store);
    boolean resumed;
    try {
      resumed = store.resume(type, person.who());
    } catch (IllegalArgumentException e) {
      throw new Failure("--type: " + e.getMessage(), e);
    }
    if (!resumed) {
      err().println("outbox: there is no such pause");
    }
    paused.print(store, out);
    return resumed ? 0 : Exit.CHECK_FAILED;
  }
}
