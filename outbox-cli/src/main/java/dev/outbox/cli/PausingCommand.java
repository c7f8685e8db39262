package dev.outbox.cli;

import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.PauseStore.Pause;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Pauses or resumes, and shows what is paused then. */
abstract class PausingCommand extends StoreCommand {
  @Option(
      names = "--type",
      paramLabel = "TYPE",
      description = "The pause of this aggregate type; default: the one of all messages.")
  private @Nullable String type;

  @Mixin private final Person person = new Person();

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Command(
      name = "pause",
      description = {
        "Let relays publish nothing, or nothing of one aggregate type, until it is resumed. They"
            + " notice within about a second; what they have in hand they finish. Producers append"
            + " as before. Shows what is paused."
      },
      footer = {
        "",
        "Examples:",
        "  outbox pause --type order --reason \"the warehouse moves\" --url URL",
        "  outbox pause --url URL"
      })
  static final class Pausing extends PausingCommand {
    @Override
    boolean change(PauseStore store, @Nullable String type, Who who) {
      store.pause(type, who);
      return true;
    }
  }

  @Command(
      name = "resume",
      description = {
        "End a pause: with --type the one of that aggregate type, else the one of all messages."
            + " Others stay. The first messages go out within about a second, those of many keys"
            + " within half a minute. Shows what is still paused.",
        "Exit codes: 0 resumed; 1 there was no such pause; 2 bad usage, or it could not be done."
      },
      footer = {"", "Example:", "  outbox resume --type order --url URL"})
  static final class Resuming extends PausingCommand {
    @Override
    boolean change(PauseStore store, @Nullable String type, Who who) {
      return store.resume(type, who);
    }
  }

  /** Does it; false when there is no such pause. */
  abstract boolean change(PauseStore store, @Nullable String type, Who who);

  @Override
  final int run(Object outbox, PrintWriter out) {
    PauseStore store = Stores.as(PauseStore.class, outbox);
    Stores.verify(store); // an older schema has no place for it
    boolean changed = Failure.whereRefused("--type: ", () -> change(store, type, person.who()));
    if (!changed) {
      err().println("outbox: there is no such pause");
    }
    print(store.pauses(), out);
    return changed ? 0 : Main.CHECK_FAILED;
  }

  private void print(List<Pause> pauses, PrintWriter out) {
    if (json) {
      out.println(Json.of(Map.of("paused", pauses.stream().map(PausingCommand::json).toList())));
    } else if (pauses.isEmpty()) {
      out.println("Nothing is paused.");
    } else {
      pauses.forEach(pause -> out.println(Listing.oneLine(pause.sentence())));
    }
  }

  private static Map<String, @Nullable Object> json(Pause pause) {
    Map<String, @Nullable Object> fields = new LinkedHashMap<>();
    fields.put("type", pause.aggregateType());
    fields.put("since", pause.since());
    fields.put("by", pause.who());
    fields.put("reason", pause.reason() == null ? null : Secrets.mask(pause.reason()));
    return fields;
  }
}
