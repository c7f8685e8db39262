package dev.outbox.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine;

/** A command line that was run in this JVM. */
public record Cli(int code, String out, String err) {

  static Cli run(List<String> options, String... words) {
    return run(Stream.concat(Stream.of(words), options.stream()).toArray(String[]::new));
  }

  public static Cli run(String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = Main.commandLine();
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    int code = line.execute(args);
    return new Cli(code, out.toString(), err.toString());
  }
}
