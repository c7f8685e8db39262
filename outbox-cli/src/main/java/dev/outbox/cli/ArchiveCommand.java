package dev.outbox.cli;

import dev.outbox.OutboxMessage;
import dev.outbox.Texts;
import dev.outbox.spi.store.ArchiveStore;
import dev.outbox.spi.store.ArchiveStore.Archived;
import dev.outbox.spi.store.ArchiveStore.Outcome;
import dev.outbox.spi.store.ArchiveStore.Position;
import dev.outbox.spi.store.ArchiveStore.Search;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "archive",
    description = "Look at what has left the outbox, and publish it again.",
    synopsisSubcommandLabel = "(find | show | replay)",
    subcommands = {
      ArchiveCommand.Find.class,
      ArchiveCommand.Show.class,
      ArchiveCommand.Replay.class
    })
final class ArchiveCommand extends Verbs {
  /** What all three have in common: which messages. */
  abstract static class Action extends StoreCommand {
    private static final Duration DAY = Duration.ofDays(1);

    @Option(
        names = "--from",
        paramLabel = "TIME",
        description = "The first moment, as 2026-11-22T10:00:00Z; default: a day before --to.")
    private @Nullable Instant from;

    @Option(
        names = "--to",
        paramLabel = "TIME",
        description = "The first moment that does not count any more; default: now.")
    private @Nullable Instant to;

    @Mixin private final MessageFilters filters = new MessageFilters();

    @Option(names = "--aggregate-id", paramLabel = "ID", description = "Only of this aggregate.")
    private @Nullable String aggregateId;

    @Option(
        names = "--outcome",
        paramLabel = "WHY",
        description = "Only what left for this reason: delivered, discarded or expired.")
    private @Nullable Outcome outcome;

    @Option(
        names = "--after",
        paramLabel = "POSITION",
        description = "Go on behind this one, as an earlier command has said.")
    private @Nullable Position after;

    @Override
    final int run(Object outbox, PrintWriter out) {
      return run(Stores.as(ArchiveStore.class, outbox), search(), out);
    }

    abstract int run(ArchiveStore store, Search search, PrintWriter out);

    /** What to search for. Where no time is given it ends now, by this machine's clock. */
    private Search search() {
      Instant end = to != null ? to : Instant.now();
      Instant begin = from != null ? from : end.minus(DAY);
      if (begin.isAfter(end)) {
        throw new Failure(
            "there is no time from %s to %s: give an earlier --from, or a later --to"
                .formatted(begin, end));
      }
      return Search.between(begin, end)
          .key(filters.key)
          .aggregateType(filters.type)
          .aggregateId(aggregateId)
          .eventType(filters.eventType)
          .id(filters.id)
          .outcome(outcome)
          .after(after);
    }
  }

  @Command(name = "find", description = "List what left in a time, in the order in which it left.")
  static final class Find extends Action {
    @Option(
        names = "--limit",
        defaultValue = "50",
        converter = Listing.AtLeastOne.class,
        description = "How many at most; default: ${DEFAULT-VALUE}.")
    private int limit;

    @Override
    int run(ArchiveStore store, Search search, PrintWriter out) {
      List<Archived> found = store.archived(search, limit);
      if (found.isEmpty()) {
        out.printf("Nothing left from %s to %s.%n", search.from(), search.to());
        return Main.CHECK_FAILED;
      }
      out.printf(
          "%-27s %10s  %-9s %8s  %s%n", "left", "sequence", "outcome", "attempts", "message");
      found.forEach(one -> print(one, out));
      if (found.size() == limit) {
        out.println("There may be more: " + Replaying.goOn(Replaying.behind(search, found)));
      }
      return 0;
    }

    private static void print(Archived one, PrintWriter out) {
      out.printf(
          "%-27s %10s  %-9s %8s  %s%n",
          one.at(),
          one.message().sequence(),
          one.outcome(),
          one.message().attempts(),
          Texts.printable(what(one.message())));
      if (one.answer() != null || one.error() != null) {
        String said = one.answer() != null ? one.answer() : one.error();
        out.printf("%60s%s%n", "", Secrets.mask(Texts.printable(String.valueOf(said))));
      }
    }
  }

  @Command(name = "show", description = "Show messages whole, with headers and payload.")
  static final class Show extends Action {

    @Override
    int run(ArchiveStore store, Search search, PrintWriter out) {
      List<Archived> found = store.archived(search, Replaying.PAGE);
      found.forEach(one -> print(one, out));
      if (found.isEmpty()) {
        out.printf("Nothing left from %s to %s.%n", search.from(), search.to());
      } else if (found.size() == Replaying.PAGE) {
        out.printf("These are the first %s; say which ones.%n", Replaying.PAGE);
      }
      return found.isEmpty() ? Main.CHECK_FAILED : 0;
    }

    private static void print(Archived one, PrintWriter out) {
      line(out, "message", what(one.message()));
      line(out, "sequence", one.message().sequence());
      line(out, "created", one.message().createdAt());
      line(out, "left", one.at() + ", " + one.outcome());
      line(out, "attempts", one.message().attempts());
      line(out, "answer", one.answer());
      line(out, "error", one.error());
      if (one.message().problem() == null) {
        OutboxMessage message = one.message().message();
        printHead(message, out);
        if (one.whole()) {
          printPayload(message, out);
        } else {
          line(out, "payload", "not kept");
        }
      }
      out.println();
    }
  }

  @Command(
      name = "replay",
      description = {
        "Append messages again, in the order in which they left: as new ones, with the header"
            + " replay-of. Only those that were delivered, unless --outcome says another. Asks"
            + " before.",
        "Needs --archive=full, and the rights of a producer and a relay. Page by page: where it is"
            + " cut short, it says how to go on."
      })
  static final class Replay extends Action {
    @Mixin private final Person person = new Person();

    @Option(names = "--yes", description = "Do not ask.")
    private boolean yes;

    @Override
    void check() {
      if (!tables().hasArchive()) {
        throw new Failure(
            "a replay is noted in the audit beside the archive: add --archive=full, or metadata, as the relays are told");
      }
      if (!yes && !Terminal.canAsk()) {
        throw new Failure(
            "replay publishes again, and there is no terminal to ask at: look with archive find, and add --yes");
      }
    }

    @Override
    int run(ArchiveStore store, Search search, PrintWriter out) {
      if (search.to().isAfter(Instant.now())) {
        throw new Failure(
            "--to is %s, which is not over: replays that leave before it would be replayed too"
                .formatted(search.to()));
      }
      Stores.verify(store); // the audit, too
      Replaying replaying = new Replaying(store, search, person.who(), out);
      replaying.printCounts();
      if (replaying.isEmpty()) {
        return Main.CHECK_FAILED;
      }
      if (!yes && !Terminal.ask("Publish them again? Type yes: ", out).equals("yes")) {
        out.println("Nothing was replayed.");
        return 0;
      }
      replaying.run();
      return 0;
    }
  }
}
