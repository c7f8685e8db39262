package dev.outbox.cli;

import dev.outbox.Texts;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.InspectionStore.WaitingKey;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "keys",
    description = {
      "List keys that wait: for a retry, or, halted, until somebody requeues or discards a dead"
          + " letter. Each with the message that it waits for, how many messages wait behind that"
          + " one (up to "
          + InspectionStore.MOST_BEHIND
          + "), and its error."
    },
    footer = {"", "Example:", "  outbox keys --halted --url URL"})
final class KeysCommand extends StoreCommand {
  @Option(names = "--halted", description = "Only keys that dead letters halt.")
  private boolean halted;

  @Mixin private final Listing listing = new Listing();

  @Override
  int run(Object outbox, PrintWriter out) {
    InspectionStore store = Stores.as(InspectionStore.class, outbox);
    return listing.print(
        (after, limit) -> store.waitingKeys(halted, after, limit),
        "No such key waits.",
        "%19s  %-27s %8s %8s  %s"
            .formatted("behind message", "next try", "messages", "attempts", "key, error"),
        KeysCommand::print,
        out);
  }

  private static void print(WaitingKey key, PrintWriter out) {
    out.printf(
        "%19s  %-27s %8s %8s  %s%n",
        key.behind(),
        key.halted() ? "somebody decides" : key.retryAt(),
        key.waiting() + (key.waiting() == InspectionStore.MOST_BEHIND ? "+" : ""),
        key.attempts(),
        Texts.printable(key.key()));
    if (key.error() != null) {
      out.printf("%69s%s%n", "", Listing.oneLine(key.error()));
    }
  }
}
