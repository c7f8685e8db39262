package dev.outbox.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
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
      String answer = new BufferedReader(new InputStreamReader(System.in, UTF_8)).readLine();
      return answer == null ? "" : answer.strip();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
