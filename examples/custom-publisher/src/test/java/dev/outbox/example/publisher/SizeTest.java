package dev.outbox.example.publisher;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class SizeTest {

  private static final Path MAIN = Path.of("src/main/java/dev/outbox/example/publisher");

  /** Without the package, imports, comments and blank lines. */
  @Test
  void thePublisherAndItsProviderHaveLessThan100Lines() throws IOException {
    long lines = lines("FilePublisher.java") + lines("FilePublisherProvider.java");
    assertTrue(lines > 50 && lines < 100, "lines: " + lines);
  }

  private static long lines(String file) throws IOException {
    try (Stream<String> lines = Files.lines(MAIN.resolve(file))) {
      return lines
          .map(String::strip)
          .filter(l -> !l.isEmpty() && !l.matches("(package |import |//|/\\*|\\*).*"))
          .count();
    }
  }
}
