package dev.outbox.cli;

import dev.outbox.Texts;
import dev.outbox.spi.store.ArchiveStore;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.spi.store.StoredMessage;
import java.io.PrintWriter;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "dead-letters",
    mixinStandardHelpOptions = true,
    description = "Look at dead letters and decide about them.",
    synopsisSubcommandLabel = "(list | requeue | discard)",
    subcommands = {
      DeadLettersCommand.ListThem.class,
      DeadLettersCommand.Requeue.class,
      DeadLettersCommand.Discard.class
    })
final class DeadLettersCommand extends Verbs {
  /** What all three have in common. */
  abstract static class Action extends StoreCommand<DeadLetterStore> {
    Action() {
      super(DeadLetterStore.class);
    }
  }

  @Command(
      name = "list",
      mixinStandardHelpOptions = true,
      description = "Show dead letters, the oldest first, and which of them halt their keys.")
  static final class ListThem extends Action {
    @Option(
        names = "--limit",
        defaultValue = "50",
        description = "How many at most; default: ${DEFAULT-VALUE}.")
    private int limit;

    @Option(
        names = "--after",
        defaultValue = "0",
        paramLabel = "SEQ",
        description = "Begin after this sequence.")
    private long after;

    @Override
    int run(DeadLetterStore store, PrintWriter out) {
      if (limit < 1) {
        throw new Failure("--limit is " + limit + ", at least 1 is needed");
      }
      List<DeadLetter> letters = store.deadLetters(after, limit);
      if (letters.isEmpty()) {
        out.println("There are no dead letters" + (after > 0 ? " after " + after : "") + ".");
        return 0;
      }
      long last = letters.get(letters.size() - 1).message().sequence();
      int width = Math.max(10, Long.toString(last).length());
      out.printf(
          "%" + width + "s  %-24s %8s  %s%n",
          "sequence",
          "dead since",
          "attempts",
          "message, error");
      letters.forEach(letter -> print(letter, width, out));
      if (letters.size() == limit) {
        out.println("There may be more: --after " + last);
      }
      return 0;
    }

    private static void print(DeadLetter letter, int width, PrintWriter out) {
      StoredMessage message = letter.message();
      out.printf(
          "%" + width + "d  %-24s %8d  %s%s%n",
          message.sequence(),
          letter.failedAt() == null ? "-" : letter.failedAt().toString(),
          message.attempts(),
          Texts.printable(what(message)),
          letter.haltsKey() ? ", halts its key" : "");
      out.printf("%" + (width + 36) + "s  %s%n", "", Secrets.mask(oneLine(letter.error())));
    }

    private static String oneLine(@Nullable String error) {
      return error == null ? "-" : Texts.printable(error.replaceAll("\\s*\\R\\s*", " "));
    }
  }

  /** Which dead letters. */
  static final class Selection {
    @Parameters(arity = "1..*", paramLabel = "SEQ", description = "Sequences, as list shows them.")
    private @Nullable List<Long> sequences;

    @Option(
        names = "--all",
        description =
            "All dead letters, some in each transaction; the progress is printed to stderr. Where"
                + " it is cut short, the same command goes on with the others.")
    private boolean all;

    List<Long> sequences() {
      return sequences == null ? List.of() : sequences;
    }
  }

  /** Requeue or discard. */
  abstract static class Deciding extends Action {
    @ArgGroup(multiplicity = "1")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private Selection selection;

    @Mixin private final Person person = new Person();

    final boolean all() {
      return selection.all;
    }

    final boolean isNamed() {
      return person.isNamed();
    }

    /** Who decides; null: nothing is written into an audit. */
    final @Nullable Who who() {
      return tables().hasArchive() ? person.who() : null;
    }

    /**
     * The end of the refusal when there is an archive that this command was not told of: another
     * way to go on, and what comes of it. Null: the command need not be told.
     */
    abstract @Nullable String otherwise();

    /** Carries out the decision; returns the sequences that were there. */
    abstract Set<Long> decide(DeadLetterStore store, Set<Long> sequences);

    abstract String done();

    /** Refuses what would leave a gap in an archive or in its audit, which nobody could see. */
    private void requireNoGap(DeadLetterStore store) {
      if (tables().hasArchive()) {
        if (store instanceof SchemaStore schema) {
          schema.verify();
        }
        return;
      }
      boolean told = tables().archive() != null;
      String otherwise = otherwise();
      if (!told && otherwise != null && store instanceof ArchiveStore kept && kept.hasArchive()) {
        throw new Failure(
            "this outbox has an archive, and this command was not told what it keeps: add"
                + " --archive=full or --archive=metadata, as its relays are told, or "
                + otherwise);
      }
      if (person.isNamed()) {
        throw new Failure(
            told
                ? "--by and --why are for the audit, and with --archive=none nothing is written"
                    + " there: leave them out"
                : "--by and --why are for the audit beside an archive, and this outbox has none:"
                    + " leave them out");
      }
    }

    @Override
    int run(DeadLetterStore store, PrintWriter out) {
      requireNoGap(store);
      Decisions decisions =
          new Decisions(
              selection.all
                  ? all(DeadLetterSummary.of(store, err()), out)
                  : Decisions.parts(selection.sequences(), DeadLetterSummary.MOST),
              part -> decide(store, part),
              done(),
              err());
      try (Cleanup ignored = Cleanup.atEnd(decisions::stop)) {
        if (!decisions.doAll()) {
          return Exit.NOT_DONE;
        }
      }
      out.printf("%d %s.%n", decisions.count(), done());
      if (selection.all) {
        return 0;
      }
      decisions
          .missing()
          .forEach(sequence -> out.printf("There is no dead letter %d.%n", sequence));
      return decisions.missing().isEmpty() ? 0 : Exit.CHECK_FAILED;
    }

    /** All that are there now; one that dies later is not meant. */
    List<Set<Long>> all(DeadLetterSummary summary, PrintWriter out) {
      return summary.parts();
    }
  }

  @Command(
      name = "requeue",
      mixinStandardHelpOptions = true,
      description = "Make dead letters due again, with no attempts counted.")
  static final class Requeue extends Deciding {
    @Override
    @Nullable String otherwise() {
      return isNamed() ? "leave --by and --why out, and nobody knows who it was" : null;
    }

    @Override
    Set<Long> decide(DeadLetterStore store, Set<Long> sequences) {
      Who who = who();
      return who == null
          ? store.requeue(sequences)
          : Stores.as(ArchiveStore.class, store).requeue(sequences, who);
    }

    @Override
    String done() {
      return "requeued";
    }
  }

  @Command(
      name = "discard",
      mixinStandardHelpOptions = true,
      description = "Remove dead letters for good; asks before it removes all.")
  static final class Discard extends Deciding {
    @Option(names = "--yes", description = "Do not ask.")
    private boolean yes;

    @Override
    void check() {
      if (all() && !yes && !Terminal.canAsk()) {
        throw new Failure(
            "discard --all removes all dead letters for good, and there is no terminal to ask at:"
                + " add --yes");
      }
    }

    @Override
    String otherwise() {
      return "--archive=none, and no copy is kept";
    }

    /** Shows what is there, and asks. */
    @Override
    List<Set<Long>> all(DeadLetterSummary summary, PrintWriter out) {
      summary.print(out);
      boolean agreed =
          yes
              || summary.parts().isEmpty()
              || Terminal.ask("Remove them for good, without publishing? Type yes: ", out)
                  .equals("yes");
      return agreed ? summary.parts() : List.of();
    }

    @Override
    Set<Long> decide(DeadLetterStore store, Set<Long> sequences) {
      Who who = who();
      return who == null
          ? store.discard(sequences)
          : Stores.as(ArchiveStore.class, store).discard(sequences, who);
    }

    @Override
    String done() {
      return "discarded";
    }
  }
}
