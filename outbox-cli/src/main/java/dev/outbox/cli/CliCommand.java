package dev.outbox.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What every command has. */
@Command(mixinStandardHelpOptions = true)
abstract class CliCommand {
  @Spec
  @SuppressWarnings("NullAway.Init") // set by picocli
  private CommandSpec spec;

  final CommandSpec spec() {
    return spec;
  }

  /** Where the answer is printed. */
  final PrintWriter out() {
    return spec.commandLine().getOut();
  }

  /** Where progress is printed. */
  final PrintWriter err() {
    return spec.commandLine().getErr();
  }

  final boolean isGiven(String option) {
    return spec.commandLine().getParseResult().hasMatchedOption(option);
  }

  /**
   * This command as it was given, for a shell, but with other values of these options; its password
   * is left out, that of a URL becomes stars.
   */
  final String again(Map<String, ?> changed) {
    List<String> words = new ArrayList<>(List.of(spec.root().name()));
    boolean isValue = false;
    for (String word : spec.root().commandLine().getParseResult().originalArgs()) {
      String name = word.split("=", 2)[0];
      boolean isLeftOut = isValue || changed.containsKey(name);
      if (!isLeftOut && !word.startsWith(DatabaseOptions.PASSWORD + "=")) {
        words.add(word);
      }
      isValue = !isValue && changed.containsKey(word);
    }
    changed.forEach((name, value) -> words.add(name + "=" + value));
    return words.stream().map(CliCommand::quoted).collect(Collectors.joining(" "));
  }

  private static String quoted(String word) {
    String masked = Secrets.mask(word);
    return masked.matches("[\\w./:=,@%+-]+") ? masked : "'" + masked.replace("'", "'\\''") + "'";
  }

  /** The command line is wrong. */
  final ParameterException wrong(String sentence) {
    return new ParameterException(spec.commandLine(), sentence);
  }
}
