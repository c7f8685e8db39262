package dev.outbox.example.readme;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What stands between {@code tag::name} and {@code end::name} in a source file. */
final class Regions {
  private static final Pattern MARK =
      Pattern.compile("\\s*(?://|--|#|<!--)\\s*(tag|end)::([\\w-]+).*");

  private Regions() {}

  /**
   * By name; without the indentation that all lines have, marks of other regions, and blank ends.
   */
  static Map<String, String> in(Path file) throws IOException {
    Map<String, List<String>> open = new LinkedHashMap<>();
    Map<String, String> regions = new LinkedHashMap<>();
    for (String line : Files.readAllLines(file)) {
      Matcher mark = MARK.matcher(line);
      if (!mark.matches()) {
        open.values().forEach(lines -> lines.add(line));
      } else if (mark.group(1).equals("tag")) {
        open.put(mark.group(2), new ArrayList<>());
      } else {
        List<String> lines = open.remove(mark.group(2));
        if (lines == null) {
          throw new IllegalStateException(file + ": end::" + mark.group(2) + " without a tag");
        }
        regions.put(mark.group(2), normal(String.join("\n", lines)));
      }
    }
    if (!open.isEmpty()) {
      throw new IllegalStateException(file + ": no end for " + open.keySet());
    }
    return regions;
  }

  static String normal(String text) {
    return text.stripTrailing().stripIndent().strip();
  }
}
