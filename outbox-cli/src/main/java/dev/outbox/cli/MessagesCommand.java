package dev.outbox.cli;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.InspectionStore.Inspected;
import dev.outbox.spi.store.InspectionStore.Listed;
import dev.outbox.spi.store.InspectionStore.Status;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "messages",
    description = "Look at the messages that are in the outbox, and cancel those that are not due.",
    synopsisSubcommandLabel = "(list | show | cancel)",
    subcommands = {
      MessagesCommand.ListThem.class,
      MessagesCommand.Show.class,
      MessagesCommand.Cancel.class
    })
final class MessagesCommand extends Verbs {

  @Command(
      name = "list",
      description = {
        "List messages in the order of their sequences, without their payloads.",
        "A message may be PENDING until a relay has seen that it has to wait."
      },
      footer = {
        "",
        "Examples:",
        "  outbox messages list --url URL --key order/42",
        "  outbox messages list --url URL --status blocked --type order --older-than 1h"
      })
  static final class ListThem extends StoreCommand {
    @Option(
        names = "--status",
        paramLabel = "STATUS",
        description = "Only pending, scheduled, blocked or dead ones.")
    private @Nullable Status status;

    @Mixin private final Filters filters = new Filters();

    @Mixin private final Listing listing = new Listing();

    @Override
    int run(Object outbox, PrintWriter out) {
      InspectionStore store = Stores.as(InspectionStore.class, outbox);
      return listing.print(
          (after, limit) -> store.messages(filters.query(status, after, limit)),
          "There are no such messages.",
          out);
    }
  }

  @Command(
      name = "show",
      description = "Show a message, its headers and what it waits for.",
      footer = {"", "Example:", "  outbox messages show 4711 --payload --url URL"})
  static final class Show extends StoreCommand {
    @Parameters(paramLabel = "SEQ", description = "Its sequence, as list shows it.")
    private long sequence;

    @Option(
        names = "--payload",
        description =
            "Show the payload too: JSON indented, other text as it is, other bytes in hexadecimal.")
    private boolean payload;

    @Override
    int run(Object outbox, PrintWriter out) {
      InspectionStore store = Stores.as(InspectionStore.class, outbox);
      Optional<Inspected> found = store.message(sequence);
      if (found.isEmpty()) {
        out.printf("There is no message %s, or no more.%n", sequence);
        return Main.CHECK_FAILED;
      }
      print(found.get(), out);
      return 0;
    }

    private void print(Inspected shown, PrintWriter out) {
      Listed listed = shown.listed();
      line(out, "message", what(shown.message()));
      line(out, "id", listed.id());
      line(out, "sequence", listed.sequence());
      line(out, "status", listed.status() + (listed.haltsKey() ? ", halts its key" : ""));
      line(out, "key", listed.key());
      line(out, "waits for", shown.behind());
      line(out, "appended", listed.appendedAt());
      line(out, "due", listed.dueAt());
      line(out, "expires", listed.expiresAt());
      line(out, "attempts", listed.attempts());
      line(out, "failed", listed.failedAt());
      line(out, "error", listed.error());
      if (shown.message().problem() == null) {
        print(shown.message().message(), out);
      }
    }

    private void print(OutboxMessage message, PrintWriter out) {
      printHead(message, out);
      if (payload) {
        printPayload(message, out);
      } else {
        line(out, "payload", message.payloadSize() + " bytes; --payload shows them");
      }
    }
  }

  @Command(
      name = "cancel",
      description = {
        "Remove messages for good that are SCHEDULED and not due yet, so that they are never"
            + " published. Says for which it is too late. Asks before it removes all."
      },
      footer = {
        "",
        "Examples:",
        "  outbox messages cancel 4711 --url URL",
        "  outbox messages cancel --all --dedup-key reminder-42 --url URL",
        "  outbox messages cancel --all --key order/42 --event-type Reminder --url URL"
      })
  static final class Cancel extends DeadLettersCommand.Removing {
    Cancel() {
      super(Status.SCHEDULED, "cancelled");
    }

    @Override
    Set<Long> decide(DeadLetterStore store, Set<Long> sequences, @Nullable Who by) {
      try {
        return store.cancel(sequences, by);
      } catch (UnsupportedOperationException e) {
        throw new Failure("this store cannot cancel messages", e);
      }
    }
  }
}
