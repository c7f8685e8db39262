package dev.outbox.dev;

import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;

/** A command line that was run in this JVM. */
public record Cli(int code, String out, String err) {

  public static Cli run(String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = DevMain.commandLine();
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    int code = line.execute(args);
    return new Cli(code, out.toString(), err.toString());
  }
}
