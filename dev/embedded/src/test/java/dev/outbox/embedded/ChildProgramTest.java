package dev.outbox.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

@DisabledOnOs(OS.WINDOWS)
class ChildProgramTest {
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private static ChildProgram sh(String script) {
    return ChildProgram.start("sh", List.of("sh", "-c", script));
  }

  @Test
  void saysWhatItSaidAndHowItEnded() {
    try (ChildProgram program = sh("echo out; echo err >&2; exit 5")) {
      assertThat(program.exitCode()).isEqualTo(5);
      assertThat(program.isAlive()).isFalse();
      assertThat(program.said()).contains("out", "err");
    }
  }

  @Test
  void endsInItsOwnWayWhenItIsAsked() {
    try (ChildProgram program =
        sh("trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.01; done")) {
      await().atMost(PATIENCE).until(() -> program.said().contains("ready"));
      program.terminate();
      assertThat(program.exitCode()).isEqualTo(3);
      assertThat(program.said()).contains("bye");
    }
  }

  @Test
  void isKilledWhenItIsClosed() {
    ChildProgram program = sh("trap '' TERM; echo ready $$; while :; do sleep 0.01; done");
    await().atMost(PATIENCE).until(() -> program.said().contains("ready"));
    long pid = Long.parseLong(program.said().replaceAll("(?s).*ready (\\d+).*", "$1"));
    program.close();
    assertThat(ProcessHandle.of(pid).filter(ProcessHandle::isAlive)).isEmpty();
    assertThat(program.said()).startsWith("(nothing");
  }

  /** The other JVM: its user says that it is done before the server ends. */
  public static void main(String[] arguments) {
    EmbeddedPostgres postgres = EmbeddedPostgres.start();
    EmbeddedServer.beforeShutdown(
        () -> System.out.println("at its end " + ProcessHandle.of(postgres.pid()).isPresent()));
    System.out.println("ready");
    System.exit(0);
  }

  @Test
  void whatUsesAServerEndsBeforeIt() {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String classes = System.getProperty("java.class.path");
    try (ChildProgram program =
        ChildProgram.start(
            "the other JVM", List.of(java, "-cp", classes, ChildProgramTest.class.getName()))) {
      assertThat(program.exitCode()).as(program.said()).isZero();
      assertThat(program.said()).contains("ready", "at its end true");
    }
  }
}
