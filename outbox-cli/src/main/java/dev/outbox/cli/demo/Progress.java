package dev.outbox.cli.demo;

import dev.outbox.cli.Terminal;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;

/** A bar on a terminal, lines elsewhere; events on lines of their own. Safe for several threads. */
final class Progress {
  private static final int WIDTH = 28;
  private static final Duration BETWEEN_LINES = Duration.ofSeconds(3);

  private final PrintWriter out;
  private final boolean terminal = Terminal.isThere();
  private final long begin = System.nanoTime();
  private long lastLine = begin;
  private int shown;

  Progress(PrintWriter out) {
    this.out = out;
  }

  /** Something happened. */
  synchronized void event(String text) {
    wipe();
    out.printf(Locale.ROOT, "%6.1f s  %s%n", (System.nanoTime() - begin) / 1e9, text);
    out.flush();
  }

  /** So much is done. */
  synchronized void at(long done, long all, long delivered) {
    String text =
        String.format(
            Locale.ROOT, "%,d of %,d transactions, %,d messages delivered", done, all, delivered);
    if (terminal) {
      int filled = (int) (WIDTH * done / all);
      String line = "  [" + "=".repeat(filled) + " ".repeat(WIDTH - filled) + "] " + text;
      out.print("\r" + line + " ".repeat(Math.max(0, shown - line.length())));
      shown = line.length();
      out.flush();
    } else if (System.nanoTime() - lastLine >= BETWEEN_LINES.toNanos()) {
      lastLine = System.nanoTime();
      event(text);
    }
  }

  /** The bar makes room for what follows. */
  synchronized void wipe() {
    if (shown > 0) {
      out.print("\r" + " ".repeat(shown) + "\r");
      out.flush();
      shown = 0;
    }
  }
}
