package dev.outbox.example.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class SizeTest {

  /** All that there is, without the package, imports, comments and blank lines. */
  @Test
  void aStoreIsAtMost200LinesWithItsTables() throws IOException {
    List<String> lines = new ArrayList<>();
    try (Stream<Path> paths = Files.walk(Path.of("src/main"))) {
      for (Path path : paths.filter(Files::isRegularFile).toList()) {
        lines.addAll(Files.readAllLines(path));
      }
    }
    assertThat(lines)
        .map(String::strip)
        .filteredOn(line -> !line.isEmpty() && !line.matches("(package |import |//|/\\*|\\*).*"))
        .hasSizeBetween(100, 200);
  }
}
