package dev.outbox.gallery;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@code docs/tck.md}: under the name of each, what the suite says first to it. */
public final class Page {
  private static final Path PAGE = Path.of("..", "..", "docs", "tck.md");

  private Page() {}

  /** The sentence under this heading, as {@link #comparable} makes it. */
  public static String sentence(String name) throws IOException {
    Matcher section =
        Pattern.compile("(?ms)^### `" + name + "`$.*?^> (.*?)$").matcher(Files.readString(PAGE));
    if (!section.find()) {
      throw new AssertionError("docs/tck.md has no sentence under ### `" + name + "`");
    }
    return comparable(section.group(1));
  }

  /** Without what differs from run to run: numbers. */
  public static String comparable(String sentence) {
    return sentence.strip().replaceAll("[0-9]+([.,][0-9]+)*", "#");
  }
}
