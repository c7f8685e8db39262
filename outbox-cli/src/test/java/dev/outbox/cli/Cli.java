package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

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

  /** Its output. It has done what it was told. */
  String done() {
    assertThat(code).as(out + err).isZero();
    return out;
  }

  /** Its output, which says what it has found: a check has failed. */
  String failed() {
    assertThat(code).as(out + err).isEqualTo(Main.CHECK_FAILED);
    return out;
  }

  /** The one line that says why it could not do what it was told. */
  String refused() {
    assertThat(code).as(out + err).isEqualTo(Main.NOT_DONE);
    assertThat(err).startsWith("outbox: ").hasLineCount(1);
    return err;
  }

  /** The lines of its output, with one blank between words. */
  Stream<String> lines() {
    return out.lines().map(line -> line.replaceAll(" +", " "));
  }
}
