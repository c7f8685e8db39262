package dev.outbox.cli;

import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.InspectionStore.Status;
import java.io.PrintWriter;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "dead-letters",
    description = "Look at dead letters and decide about them.",
    synopsisSubcommandLabel = "(list | requeue | discard)",
    subcommands = {
      DeadLettersCommand.ListThem.class,
      DeadLettersCommand.Requeue.class,
      DeadLettersCommand.Discard.class
    })
final class DeadLettersCommand extends Verbs {
  @Command(
      name = "list",
      description = "Show dead letters, the oldest first, and which of them halt their keys.",
      footer = {
        "",
        "Example:",
        "  outbox dead-letters list --url URL --type order --error \"unknown topic\""
      })
  static final class ListThem extends StoreCommand {
    @Mixin private final Filters filters = new Filters();

    @Mixin private final Listing listing = new Listing();

    @Override
    int run(Object outbox, PrintWriter out) {
      DeadLetterStore store = Stores.as(DeadLetterStore.class, outbox);
      return listing.print(
          DeadLetterPages.of(store, Status.DEAD, filters), "There are no such dead letters.", out);
    }
  }

  /** Which dead letters. */
  static final class Selection {
    @Parameters(arity = "1..*", paramLabel = "SEQ", description = "Sequences, as list shows them.")
    private @Nullable List<Long> sequences;

    @Option(
        names = "--all",
        description =
            "All, or all that the other options name, some in each transaction; the"
                + " progress is printed to stderr. Where it is cut short, the same command goes on"
                + " with the others.")
    private boolean all;

    List<Long> sequences() {
      return sequences == null ? List.of() : sequences;
    }
  }

  /** Requeue, discard, or cancel. */
  abstract static class Deciding extends StoreCommand {
    final Status about;
    private final String done;

    @ArgGroup(multiplicity = "1")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private Selection selection;

    @Mixin private final Filters filters = new Filters();

    @Option(
        names = "--dry-run",
        description = "With --all: only say how many there are of which type, event and error.")
    private boolean dryRun;

    @Mixin private final Person person = new Person();

    /**
     * @param about what it decides about: dead letters, or scheduled messages
     * @param done what was done with them, as "requeued"
     */
    Deciding(Status about, String done) {
      this.about = about;
      this.done = done;
    }

    @Override
    void check() {
      if (!selection.all && (dryRun || !filters.areNone())) {
        throw new Failure("--dry-run, and options that say which ones, need --all");
      }
    }

    /** Whether it decides about what nobody has named one by one. */
    final boolean decidesAboutAll() {
      return selection.all && !dryRun;
    }

    final boolean isNamed() {
      return person.isNamed();
    }

    /** What the command is about, as "dead letter". */
    final String subject() {
      return about == Status.DEAD ? "dead letter" : "message";
    }

    /**
     * The end of the refusal when there is an archive that this command was not told of: another
     * way to go on, and what comes of it. Null: the command need not be told.
     */
    abstract @Nullable String otherwise();

    /**
     * Whether to do it; else nothing is done.
     *
     * @param all null: these sequences
     */
    boolean agrees(
        DeadLetterStore store,
        @Nullable DeadLetterSummary all,
        List<Long> sequences,
        PrintWriter out) {
      return true;
    }

    /**
     * Carries out the decision; returns the sequences that were there.
     *
     * @param by null: nothing is written into an audit
     */
    abstract Set<Long> decide(DeadLetterStore store, Set<Long> sequences, @Nullable Who by);

    /** Refuses what would leave a gap in an archive or in its audit, which nobody could see. */
    private void requireNoGap(DeadLetterStore store) {
      if (tables().hasArchive()) {
        Stores.verify(store);
        return;
      }
      String otherwise = otherwise();
      if (otherwise != null) {
        refuseGap(store, otherwise);
      }
      if (person.isNamed()) {
        throw new Failure(
            tables().archive() != null
                ? "--by and --why are for the audit, and with --archive=none nothing is written"
                    + " there: leave them out"
                : "--by and --why are for the audit beside an archive, and this outbox has none:"
                    + " leave them out");
      }
    }

    @Override
    final int run(Object outbox, PrintWriter out) {
      DeadLetterStore store = Stores.as(DeadLetterStore.class, outbox);
      if (dryRun) {
        summary(store).print(out);
        return 0;
      }
      requireNoGap(store);
      // Of all those that are there now: one that dies later is not meant.
      DeadLetterSummary all = selection.all ? summary(store) : null;
      List<Set<Long>> parts =
          all == null ? DeadLetterSummary.parts(selection.sequences()) : all.parts();
      if (!agrees(store, all, selection.sequences(), out)) {
        parts = List.of();
      }
      Who by = tables().hasArchive() ? person.who() : null;
      int total = parts.stream().mapToInt(Set::size).sum();
      int count = 0;
      Set<Long> missing = new TreeSet<>();
      for (Set<Long> part : parts) {
        Set<Long> found = decide(store, part, by);
        count += found.size();
        missing.addAll(part);
        missing.removeAll(found);
        if (parts.size() > 1) {
          err().printf("%s of %s %s%n", count, total, done);
        }
      }
      out.printf("%s %s.%n", count, done);
      if (all != null && about == Status.DEAD) { // somebody else has decided, too
        return 0;
      }
      missing.forEach(
          sequence ->
              out.printf(
                  about == Status.DEAD
                      ? "There is no dead letter %s.%n"
                      : "Message %s was not cancelled: it is not delayed any more, or is gone.%n",
                  sequence));
      return missing.isEmpty() ? 0 : Main.CHECK_FAILED;
    }

    private DeadLetterSummary summary(DeadLetterStore store) {
      return DeadLetterSummary.of(DeadLetterPages.of(store, about, filters), subject(), err());
    }
  }

  @Command(
      name = "requeue",
      description = "Make dead letters due again, with no attempts counted.",
      footer = {
        "",
        "Examples:",
        "  outbox dead-letters requeue 17 18 --url URL",
        "  outbox dead-letters requeue --all --error \"unknown topic\" --dry-run --url URL"
      })
  static final class Requeue extends Deciding {
    Requeue() {
      super(Status.DEAD, "requeued");
    }

    @Override
    @Nullable String otherwise() {
      return isNamed() ? "leave --by and --why out, and nobody knows who it was" : null;
    }

    @Override
    Set<Long> decide(DeadLetterStore store, Set<Long> sequences, @Nullable Who by) {
      return store.requeue(sequences, by);
    }
  }

  /** Discard, or cancel: asks before. */
  abstract static class Removing extends Deciding {
    @Option(names = "--yes", description = "Do not ask.")
    private boolean yes;

    Removing(Status about, String done) {
      super(about, done);
    }

    @Override
    final void check() {
      super.check();
      if (decidesAboutAll()) {
        requireAnswer("--all removes %ss for good".formatted(subject()));
      }
    }

    private void requireAnswer(String what) {
      if (!yes && !Terminal.canAsk()) {
        throw new Failure(what + ", and there is no terminal to ask at: add --yes");
      }
    }

    @Override
    final String otherwise() {
      return "--archive=none, and no copy is kept";
    }

    /** Asks about all, having shown what is there, and about those that halt their keys. */
    @Override
    final boolean agrees(
        DeadLetterStore store,
        @Nullable DeadLetterSummary all,
        List<Long> sequences,
        PrintWriter out) {
      if (all != null) {
        all.print(out);
        return all.parts().isEmpty() || agrees(all.halting(), out);
      }
      List<Long> halting =
          about == Status.DEAD
              ? sequences.stream().distinct().filter(one -> halts(store, one)).toList()
              : List.of();
      if (halting.isEmpty()) {
        return true;
      }
      requireAnswer("dead letter %s halts its key".formatted(halting.get(0)));
      return agrees(halting.size(), out);
    }

    private static boolean halts(DeadLetterStore store, long sequence) {
      return store.deadLetters(sequence - 1, 1).stream()
          .anyMatch(letter -> letter.haltsKey() && letter.message().sequence() == sequence);
    }

    private boolean agrees(long halting, PrintWriter out) {
      return yes
          || (agrees("Remove them for good, without publishing? Type yes: ", out)
              && (halting == 0
                  || agrees(
                      "%s of them halt their keys, and later messages go on without them. Type yes once more: "
                          .formatted(halting),
                      out)));
    }

    private static boolean agrees(String question, PrintWriter out) {
      return Terminal.ask(question, out).equals("yes");
    }
  }

  @Command(
      name = "discard",
      description = {
        "Remove dead letters for good. Asks before it removes all, or one that halts its key; and"
            + " once more where keys are halted, whose later messages go on then."
      },
      footer = {
        "",
        "Examples:",
        "  outbox dead-letters discard 17 --yes --url URL",
        "  outbox dead-letters discard --all --event-type OrderViewed --older-than 30d --url URL"
      })
  static final class Discard extends Removing {
    Discard() {
      super(Status.DEAD, "discarded");
    }

    @Override
    Set<Long> decide(DeadLetterStore store, Set<Long> sequences, @Nullable Who by) {
      return store.discard(sequences, by);
    }
  }
}
