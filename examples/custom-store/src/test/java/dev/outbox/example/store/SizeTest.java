package dev.outbox.example.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class SizeTest {

  /** Without the package, the imports, comments and blank lines. */
  @Test
  void aStoreIsAtMost200LinesWithItsTables() throws IOException {
    Path source = Path.of("src/main/java/dev/outbox/example/store/HsqldbOutboxStore.java");
    assertThat(
            Files.readAllLines(source).stream()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.matches("(package|import|//|/\\*|\\*).*")))
        .hasSizeBetween(100, 200);
  }
}
