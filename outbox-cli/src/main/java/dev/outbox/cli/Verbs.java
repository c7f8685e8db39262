package dev.outbox.cli;

import java.util.List;

/** A command that does nothing without one of its subcommands. */
abstract class Verbs extends CliCommand implements Runnable {

  @Override
  public final void run() {
    throw wrong("say what to do: " + choice());
  }

  /** For who gives options without a verb: rather than that they are unknown. */
  final String beforeOptions() {
    return "say what to do before the options: %s %s".formatted(spec().name(), choice());
  }

  private String choice() {
    List<String> verbs = List.copyOf(spec().subcommands().keySet());
    int last = verbs.size() - 1;
    return String.join(", ", verbs.subList(0, last)) + " or " + verbs.get(last);
  }
}
