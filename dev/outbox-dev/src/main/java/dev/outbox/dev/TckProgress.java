package dev.outbox.dev;

import dev.outbox.cli.Cleanup;
import java.io.PrintWriter;
import java.time.Duration;

/** Which test runs: one line that changes on a terminal, a line now and then elsewhere. */
final class TckProgress {
  private static final int WIDTH = 100;
  private static final Duration BETWEEN_LINES = Duration.ofSeconds(15);

  private final PrintWriter out;
  private final boolean terminal;
  private final long begin = System.nanoTime();
  private long lastLine = begin;

  TckProgress(PrintWriter out, boolean terminal) {
    this.out = out;
    this.terminal = terminal;
  }

  /** A test begins, after so many of all. */
  void at(long done, long all, String test) {
    long seconds = Duration.ofNanos(System.nanoTime() - begin).toSeconds();
    String line = "%d of %d, %d s: %s".formatted(done, all, seconds, test);
    if (Cleanup.interrupted()) {
      return;
    }
    if (terminal) {
      String fits = line.length() > WIDTH ? line.substring(0, WIDTH - 1) + "\u2026" : line;
      out.print("\r" + fits + " ".repeat(WIDTH - fits.length()));
      out.flush();
    } else if (System.nanoTime() - lastLine >= BETWEEN_LINES.toNanos()) {
      lastLine = System.nanoTime();
      out.println(line);
      out.flush();
    }
  }

  /** The line makes room for what follows. */
  void wipe() {
    if (terminal) {
      out.print("\r" + " ".repeat(WIDTH) + "\r");
      out.flush();
    }
  }
}
