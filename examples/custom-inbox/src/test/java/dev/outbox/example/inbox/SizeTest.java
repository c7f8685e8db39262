package dev.outbox.example.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class SizeTest {

  private static final Path STORE =
      Path.of("src/main/java/dev/outbox/example/inbox/H2InboxStore.java");

  /** Without the package, imports, comments and blank lines. */
  @Test
  void anInboxIsAtMost200LinesWithItsTable() throws IOException {
    assertThat(Files.readAllLines(STORE))
        .map(String::strip)
        .filteredOn(line -> !line.isEmpty() && !line.matches("(package |import |//|/\\*|\\*).*"))
        .hasSizeBetween(100, 200);
  }
}
