package dev.outbox.cli;

import dev.outbox.spi.ArchiveStore;
import dev.outbox.spi.AuditStore;
import dev.outbox.spi.DeadLetterStore;
import dev.outbox.spi.DeadLetterStore.DeadLetter;
import dev.outbox.spi.ErrorText;
import dev.outbox.spi.SchemaStore;
import dev.outbox.spi.StoreProvider.Opened;
import dev.outbox.spi.StoredMessage;
import dev.outbox.spi.Who;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

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
  /** A payload of each may be large, and all of a page are in memory. */
  private static final int PAGE = 20;

  /** What all three have in common. */
  abstract static class Action implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init") // set by picocli
    private DatabaseOptions database;

    @Mixin private final DatabaseOptions.Tables tables = new DatabaseOptions.Tables();

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Override
    public Integer call() {
      Logs.off();
      check();
      try (Opened connected = database.connect(tables)) {
        return run(
            Stores.as(DeadLetterStore.class, connected.store()), spec.commandLine().getOut());
      }
    }

    /** Refuses what need not be tried. */
    void check() {}

    abstract int run(DeadLetterStore store, PrintWriter out);

    final DatabaseOptions.Tables tables() {
      return tables;
    }
  }

  @Command(
      name = "list",
      mixinStandardHelpOptions = true,
      description = "Show dead letters, the oldest first.")
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
      String what =
          message.problem() == null
              ? message.message().toString()
              : "key %s, undecodable: %s".formatted(message.key(), message.problem());
      out.printf(
          "%" + width + "d  %-24s %8d  %s%n",
          message.sequence(),
          letter.failedAt() == null ? "-" : letter.failedAt().toString(),
          message.attempts(),
          ErrorText.printable(what));
      out.printf("%" + (width + 36) + "s  %s%n", "", Secrets.mask(oneLine(letter.error())));
    }

    private static String oneLine(@Nullable String error) {
      return error == null ? "-" : ErrorText.printable(error.replaceAll("\\s*\\R\\s*", " "));
    }
  }

  /** Which dead letters. */
  static final class Selection {
    @Parameters(arity = "1..*", paramLabel = "SEQ", description = "Sequences, as list shows them.")
    private @Nullable List<Long> sequences;

    @Option(names = "--all", description = "All dead letters.")
    private boolean all;
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

    /** Null: nothing is written into an audit. */
    final @Nullable Who who() {
      return tables().hasArchive() ? person.who() : null;
    }

    /**
     * What to say otherwise where this was not told of an archive that is there, and what comes of
     * it; null: it need not be told.
     */
    abstract @Nullable String otherwise();

    abstract boolean decide(DeadLetterStore store, long sequence);

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
            "this outbox has an archive, and this command was not told what it keeps: add --archive=full or --archive=metadata, as its relays are told, or "
                + otherwise);
      }
      if (person.isNamed()) {
        throw new Failure(
            told
                ? "--by and --why are for the audit, and with --archive=none nothing is written there: leave them out"
                : "--by and --why are for the audit beside an archive, and this outbox has none: leave them out");
      }
    }

    @Override
    int run(DeadLetterStore store, PrintWriter out) {
      requireNoGap(store);
      List<Long> missing = new ArrayList<>();
      int count = 0;
      if (selection.all) {
        count = forAll(store, out);
      } else {
        for (long sequence :
            List.copyOf(selection.sequences == null ? List.of() : selection.sequences)) {
          if (decide(store, sequence)) {
            count++;
          } else {
            missing.add(sequence);
          }
        }
      }
      out.printf("%d %s.%n", count, done());
      missing.forEach(sequence -> out.printf("There is no dead letter %d.%n", sequence));
      return missing.isEmpty() ? 0 : Main.CHECK_FAILED;
    }

    /** By sequence, so that one that dies again meanwhile is not met twice. */
    int forAll(DeadLetterStore store, PrintWriter out) {
      AtomicInteger count = new AtomicInteger();
      DeadLetterSummary.forEach(
          store,
          PAGE,
          letter -> count.addAndGet(decide(store, letter.message().sequence()) ? 1 : 0));
      return count.get();
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
    boolean decide(DeadLetterStore store, long sequence) {
      Who who = who();
      return who == null
          ? store.requeue(sequence)
          : Stores.as(AuditStore.class, store).requeue(sequence, who);
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
            "discard --all removes all dead letters for good, and there is no terminal to ask at: add --yes");
      }
    }

    @Override
    String otherwise() {
      return "--archive=none, and no copy is kept";
    }

    /** What is removed is what was shown, whatever dies meanwhile. */
    @Override
    int forAll(DeadLetterStore store, PrintWriter out) {
      DeadLetterSummary summary = DeadLetterSummary.of(store, PAGE);
      summary.print(out);
      boolean agreed =
          yes
              || summary.sequences().isEmpty()
              || Terminal.ask("Remove them for good, without publishing? Type yes: ", out)
                  .equals("yes");
      return agreed
          ? (int) summary.sequences().stream().filter(one -> decide(store, one)).count()
          : 0;
    }

    @Override
    boolean decide(DeadLetterStore store, long sequence) {
      Who who = who();
      return who == null
          ? store.discard(sequence)
          : Stores.as(AuditStore.class, store).discard(sequence, who);
    }

    @Override
    String done() {
      return "discarded";
    }
  }
}
