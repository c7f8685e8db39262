package dev.outbox.example.readme;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The documents for users, what is fenced in them, and the sources that it is taken from. */
final class Documents {
  static final Path ROOT = Path.of("../..");

  /** The whole application with Spring Modulith is a test of its own. */
  private static final Path MODULITH = ROOT.resolve("spring/lines/modulith-4.1");

  /** What stands between two fences. */
  record Block(Path document, int line, String language, String text) {
    @Override
    public String toString() {
      return ROOT.relativize(document) + ":" + line + " " + language;
    }
  }

  private Documents() {}

  static List<Path> all() throws IOException {
    List<Path> documents =
        new ArrayList<>(List.of(ROOT.resolve("README.md"), ROOT.resolve("CONTRIBUTING.md")));
    try (Stream<Path> pages = Files.list(ROOT.resolve("docs"))) {
      pages.filter(page -> page.toString().endsWith(".md")).sorted().forEach(documents::add);
    }
    return documents;
  }

  static List<Block> blocks() throws IOException {
    List<Block> blocks = new ArrayList<>();
    for (Path document : all()) {
      List<String> lines = Files.readAllLines(document);
      for (int i = 0; i < lines.size(); i++) {
        if (lines.get(i).startsWith("```")) {
          int begin = i;
          do {
            i++;
          } while (i < lines.size() && !lines.get(i).equals("```"));
          String text = String.join("\n", lines.subList(begin + 1, i));
          blocks.add(new Block(document, begin + 1, lines.get(begin).substring(3), text));
        }
      }
    }
    return blocks;
  }

  /** By file and name, as {@code StartTest.java start}. */
  static Map<String, String> regions() throws IOException {
    Map<String, String> regions = new TreeMap<>();
    try (Stream<Path> files =
        Stream.concat(Files.walk(ROOT.resolve("examples")), Files.walk(MODULITH))) {
      for (Path file :
          files
              .filter(f -> f.toString().matches(".*/(src/.*\\.(java|js|sql|properties)|pom\\.xml)"))
              .sorted()
              .toList()) {
        Regions.in(file)
            .forEach((name, text) -> regions.put(file.getFileName() + " " + name, text));
      }
    }
    return regions;
  }
}
