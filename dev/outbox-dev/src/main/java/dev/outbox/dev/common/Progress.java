package dev.outbox.dev.common;

import dev.outbox.cli.Cleanup;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;

/**
 * What is being done: one line that changes on a terminal, a line now and then elsewhere; events
 * have lines of their own. Safe for several threads.
 */
public final class Progress {
  private static final int WIDTH = 100;

  private final PrintWriter out;
  private final boolean terminal;
  private final Duration between;
  private final long begin = System.nanoTime();
  private long lastLine = begin;

  /**
   * @param between lines, where there is no terminal
   */
  public Progress(PrintWriter out, boolean terminal, Duration between) {
    this.out = out;
    this.terminal = terminal;
    this.between = between;
  }

  private String timed(String text) {
    return String.format(Locale.ROOT, "%6.1f s  %s", (System.nanoTime() - begin) / 1e9, text);
  }

  public synchronized void event(String text) {
    wipe();
    out.println(timed(text));
    out.flush();
  }

  /** So far it is. */
  public synchronized void show(String text) {
    if (Cleanup.interrupted()) {
      return;
    }
    if (terminal) {
      String line = timed(text);
      String fits = line.length() > WIDTH ? line.substring(0, WIDTH - 1) + "\u2026" : line;
      out.print("\r" + fits + " ".repeat(WIDTH - fits.length()));
      out.flush();
    } else if (System.nanoTime() - lastLine >= between.toNanos()) {
      lastLine = System.nanoTime();
      event(text);
    }
  }

  /** The line makes room for what follows. */
  public synchronized void wipe() {
    if (terminal) {
      out.print("\r" + " ".repeat(WIDTH) + "\r");
      out.flush();
    }
  }
}
