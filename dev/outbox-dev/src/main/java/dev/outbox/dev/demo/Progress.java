package dev.outbox.dev.demo;

import dev.outbox.cli.Terminal;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;

/** A bar on a terminal, lines elsewhere; events on lines of their own. Safe for several threads. */
final class Progress {
  private static final int WIDTH = 28;
  private static final Duration BETWEEN_STEPS = Duration.ofMillis(200);
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
      line(line);
    } else if (System.nanoTime() - lastLine >= BETWEEN_LINES.toNanos()) {
      lastLine = System.nanoTime();
      event(text);
    }
  }

  /** Shows that something goes on, until it is closed. */
  Going going(String text) {
    return new Going(text);
  }

  /** Something that takes a while, and how long it has taken. */
  final class Going implements AutoCloseable {
    private final String text;
    private final long since = System.nanoTime();
    private final Thread thread = new Thread(this::run, "progress");
    private volatile boolean over;

    private Going(String text) {
      this.text = text;
      thread.setDaemon(true);
      thread.start();
    }

    private void run() {
      try {
        while (!over) {
          Thread.sleep((terminal ? BETWEEN_STEPS : BETWEEN_LINES).toMillis());
          show();
        }
      } catch (InterruptedException e) {
        // it is over
      }
    }

    private void show() {
      synchronized (Progress.this) {
        long seconds = Duration.ofNanos(System.nanoTime() - since).toSeconds();
        if (over) {
          return;
        }
        if (terminal) {
          line("  " + text + " " + ".".repeat(1 + (int) (seconds % 3)) + " " + seconds + " s");
        } else {
          event(text + ", for %d s now".formatted(seconds));
        }
      }
    }

    @Override
    public void close() {
      synchronized (Progress.this) {
        over = true;
        wipe();
      }
      thread.interrupt();
    }
  }

  private void line(String line) {
    out.print("\r" + line + " ".repeat(Math.max(0, shown - line.length())));
    shown = line.length();
    out.flush();
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
