package dev.outbox.cli;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Unmatched;

/** A command that does nothing without one of its subcommands. */
abstract class Verbs extends CliCommand implements Runnable {

  /** Without a subcommand, says that one is missing rather than that its options are unknown. */
  @Unmatched private final List<String> unmatched = new ArrayList<>();

  @Override
  public final void run() {
    List<String> verbs = List.copyOf(spec().subcommands().keySet());
    int last = verbs.size() - 1;
    String choice = String.join(", ", verbs.subList(0, last)) + " or " + verbs.get(last);
    throw wrong(
        unmatched.isEmpty()
            ? "say what to do: " + choice
            : "say what to do before the options: " + spec().name() + " " + choice);
  }
}
