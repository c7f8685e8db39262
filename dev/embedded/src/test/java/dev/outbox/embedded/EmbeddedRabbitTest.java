package dev.outbox.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

/** Stops, crashes and pauses are tested where there is a client: in outbox-publisher-rabbitmq. */
class EmbeddedRabbitTest {

  @Test
  @DisplayName("it has one user, and after close none of its processes and no file is left")
  void family() {
    EmbeddedRabbit rabbit = start();
    List<Long> processes;
    Path directory = rabbit.directory();
    try (rabbit) {
      assertThat(rabbit.control("list_users")).contains("outbox").doesNotContain("guest");
      processes = family(rabbit.pid());
      assertThat(processes).as("the server and what it started").hasSizeGreaterThan(1);
    }
    assertThat(processes).noneMatch(EmbeddedPostgresTest::isRunning);
    assertThat(ProcessHandle.allProcesses().filter(p -> mentions(p, directory))).isEmpty();
    assertThat(directory).doesNotExist();
  }

  private static EmbeddedRabbit start() {
    try {
      return EmbeddedRabbit.builder().start();
    } catch (UnsupportedOperationException e) {
      throw new TestAbortedException("skipped: " + e.getMessage());
    }
  }

  private static List<Long> family(long pid) {
    ProcessHandle server = ProcessHandle.of(pid).orElseThrow();
    return Stream.concat(Stream.of(server), server.descendants()).map(ProcessHandle::pid).toList();
  }

  private static boolean mentions(ProcessHandle process, Path directory) {
    return process.info().commandLine().orElse("").contains(directory.toString());
  }
}
