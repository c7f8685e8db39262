package dev.outbox.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;

/** Whether somebody watches, and answers. */
public final class Terminal {
  private Terminal() {}

  /** Whether a terminal is there. The start script says; without it, the JVM's console tells. */
  public static boolean isThere() {
    return is("outbox.terminal");
  }

  /** Whether what is read comes from a person. */
  public static boolean canAsk() {
    return is("outbox.terminal.in");
  }

  private static boolean is(String property) {
    String known = System.getProperty(property);
    return known != null ? Boolean.parseBoolean(known) : System.console() != null;
  }

  /** The answer, or nothing. */
  public static String ask(String question, PrintWriter out) {
    out.print(question);
    out.flush();
    try {
      // No further than its end: what is typed ahead answers the next question.
      ByteArrayOutputStream line = new ByteArrayOutputStream();
      for (int b = System.in.read(); b >= 0 && b != '\n'; b = System.in.read()) {
        line.write(b);
      }
      return line.toString(UTF_8).strip();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
