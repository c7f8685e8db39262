package dev.outbox.cli;

/** Whether somebody watches. */
public final class Terminal {
  private Terminal() {}

  /** The script knows; without it, only a JVM with both streams at a terminal has a console. */
  public static boolean isThere() {
    String known = System.getProperty("outbox.terminal");
    return known != null ? Boolean.parseBoolean(known) : System.console() != null;
  }
}
