package dev.outbox.cli;

import java.nio.file.Path;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.Logger;
import org.slf4j.LoggerFactory;

/** What libraries log; to be set before the first of them is loaded. */
public final class Logs {
  private static final String SIMPLE = "org.slf4j.simpleLogger.";

  private static final List<String> LEVELS =
      List.of("trace", "debug", "info", "warn", "error", "off");

  private Logs() {}

  /** Nothing: errors reach the user as sentences. */
  public static void off() {
    set("off", false);
  }

  /**
   * To standard error, with dates.
   *
   * @throws Failure when there is no such level
   */
  static void toStandardError(String level) {
    if (!LEVELS.contains(level)) {
      throw new Failure(
          "the property log.level is %s, allowed are %s"
              .formatted(level, String.join(", ", LEVELS)));
    }
    set(level, true);
    System.setErr(Secrets.masking(System.err)); // a pool, for one, shows its URL at debug
    if (level.equals("info")) {
      // That broker or database are away says the relay itself, in a line each and once.
      System.setProperty(SIMPLE + "log.org.apache.kafka", "error");
      System.setProperty(SIMPLE + "log.com.zaxxer.hikari", "error");
      System.setProperty(SIMPLE + "log.org.mongodb.driver", "warn");
    }
  }

  /** To a file. */
  public static void toFile(Path file) {
    set("info", true);
    System.setProperty(SIMPLE + "log.org.apache.kafka", "error");
    System.setProperty(SIMPLE + "logFile", file.toString());
    LoggerFactory.getLogger(Logs.class).info("The log begins"); // opens the file now
  }

  private static void set(String level, boolean dates) {
    System.setProperty(SIMPLE + "defaultLogLevel", level);
    System.setProperty(SIMPLE + "showDateTime", Boolean.toString(dates));
    System.setProperty(SIMPLE + "dateTimeFormat", "yyyy-MM-dd HH:mm:ss.SSS");
    System.setProperty(SIMPLE + "showShortLogName", "true");
    System.setProperty(SIMPLE + "showThreadName", "false");
    // Liquibase and the PostgreSQL driver log here.
    LogManager.getLogManager().reset();
    Logger.getLogger("").setLevel(Level.OFF);
  }
}
