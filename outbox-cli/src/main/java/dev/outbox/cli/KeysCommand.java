package dev.outbox.cli;

import dev.outbox.Texts;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.InspectionStore.WaitingKey;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "keys",
    mixinStandardHelpOptions = true,
    description = {
      "List keys that wait: for a retry, or, halted, until somebody requeues or discards a dead"
          + " letter. Each with the message that it waits for, how many messages wait behind that"
          + " one (up to "
          + InspectionStore.MOST_BEHIND
          + "), and its error."
    },
    footer = {"", "Example:", "  outbox keys --halted --url URL"})
final class KeysCommand extends StoreCommand<InspectionStore> {
  @Option(names = "--halted", description = "Only keys that dead letters halt.")
  private boolean halted;

  @Mixin private final Listing listing = new Listing();

  KeysCommand() {
    super(InspectionStore.class);
  }

  @Override
  void check() {
    listing.check();
  }

  @Override
  int run(InspectionStore store, PrintWriter out) {
    return listing.print(
        (after, limit) -> store.waitingKeys(halted, after, limit), new Form(), out);
  }

  private static final class Form implements Listing.Form<WaitingKey> {
    @Override
    public String nothing() {
      return "No such key waits.";
    }

    @Override
    public String header() {
      return "%19s  %-27s %8s %8s  %s"
          .formatted("behind message", "next try", "messages", "attempts", "key, error");
    }

    @Override
    public void print(WaitingKey key, PrintWriter out) {
      out.printf(
          "%19d  %-27s %8s %8d  %s%n",
          key.behind(),
          key.halted() ? "somebody decides" : key.retryAt(),
          key.waiting() + (key.waiting() == InspectionStore.MOST_BEHIND ? "+" : ""),
          key.attempts(),
          Texts.printable(key.key()));
      if (key.error() != null) {
        out.printf("%69s%s%n", "", Listing.oneLine(key.error()));
      }
    }

    @Override
    public Map<String, @Nullable Object> json(WaitingKey key) {
      Map<String, @Nullable Object> fields = new LinkedHashMap<>();
      fields.put("key", key.key());
      fields.put("behind", key.behind());
      fields.put("halted", key.halted());
      fields.put("retryAt", key.retryAt());
      fields.put("waiting", key.waiting());
      fields.put("attempts", key.attempts());
      fields.put("error", key.error() == null ? null : Secrets.mask(key.error()));
      return fields;
    }
  }
}
