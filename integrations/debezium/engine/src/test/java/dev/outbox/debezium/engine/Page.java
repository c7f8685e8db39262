package dev.outbox.debezium.engine;

import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What stands in docs/debezium.md, so that what users copy is what is tested. */
final class Page {
  private static final Path FILE = Path.of("..", "..", "..", "docs", "debezium.md");

  private Page() {}

  /** A block of properties, in which one text is replaced. */
  static Map<String, String> properties(String comment, String from, String to) {
    Properties properties = new Properties();
    try {
      properties.load(new StringReader(block(comment).replace(from, to)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Map<String, String> settings = new TreeMap<>();
    properties.stringPropertyNames().forEach(n -> settings.put(n, properties.getProperty(n)));
    return settings;
  }

  /**
   * The block of code whose first line is this comment, without that line and with {@code ?} for
   * psql's variables.
   */
  static String block(String comment) {
    try {
      Matcher block =
          Pattern.compile(
                  "```[a-z]+\n *(?:--|#) " + Pattern.quote(comment) + "\n(.*?)```", Pattern.DOTALL)
              .matcher(Files.readString(FILE));
      if (!block.find()) {
        throw new IllegalStateException(FILE + " has no block that begins with " + comment);
      }
      return block.group(1).strip().replaceAll(";$", "").replaceAll(":'[a-z]+'", "?");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
