package dev.outbox.dev.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JournalTest {

  @Test
  @DisplayName("a detail of several lines, as what a process said, is in one line")
  void lines(@TempDir Path directory) throws Exception {
    try (Journal journal = Journal.open(directory, "torture")) {
      journal.write("violation", "it said:\nthis\n");
      journal.write("calm");
    }
    assertThat(Journal.readAll(directory))
        .extracting(Journal.Line::what)
        .containsExactly("violation", "calm");
  }

  @Test
  @DisplayName("a thread that is interrupted writes its line, and others go on")
  void interrupted(@TempDir Path directory) throws Exception {
    try (Journal journal = Journal.open(directory, "relay-1")) {
      Thread.currentThread().interrupt();
      journal.write("publish", 1);
      assertThat(Thread.interrupted()).isTrue();
      journal.write("claim", 2);
    }
    assertThat(Journal.readAll(directory))
        .extracting(Journal.Line::what)
        .containsExactly("publish", "claim");
  }
}
