package dev.outbox.cli;

import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What every command has, those of developers too. */
@Command(mixinStandardHelpOptions = true)
public abstract class CliCommand {
  @Spec
  @SuppressWarnings("NullAway.Init") // set by picocli
  private CommandSpec spec;

  final CommandSpec spec() {
    return spec;
  }

  /** Where the answer is printed. */
  protected final PrintWriter out() {
    return spec.commandLine().getOut();
  }

  /** Where progress is printed. */
  protected final PrintWriter err() {
    return spec.commandLine().getErr();
  }

  final boolean isGiven(String option) {
    return spec.commandLine().getParseResult().hasMatchedOption(option);
  }

  /** The command line is wrong. */
  protected final ParameterException wrong(String sentence) {
    return new ParameterException(spec.commandLine(), sentence);
  }
}
