package dev.outbox.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** A JVM that starts a server and ends without closing it. */
final class OtherJvm {
  enum End {
    EXIT,
    HALT,
    KILL,
    /** Before it is killed, the shells that guard the server get SIGTERM, as from a group's end. */
    KILL_AFTER_SHELLS
  }

  private OtherJvm() {}

  /** In the other JVM: says what it has started, and ends as it is told. */
  public static void main(String[] args) throws Exception {
    EmbeddedPostgres server = EmbeddedPostgres.start();
    System.out.println("started " + server.pid() + " " + server.directory());
    switch (End.valueOf(reader(System.in).readLine())) {
      case EXIT -> System.exit(0);
      case HALT -> Runtime.getRuntime().halt(1);
      case KILL, KILL_AFTER_SHELLS -> Thread.sleep(Duration.ofMinutes(5).toMillis());
    }
  }

  static void assertLeavesNothing(End end) throws Exception {
    Process jvm =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                OtherJvm.class.getName())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      String line;
      BufferedReader out = reader(jvm.getInputStream());
      do {
        line = out.readLine();
        assertThat(line).as("the other JVM's output").isNotNull();
      } while (!line.startsWith("started "));
      String[] words = line.split(" ", 3);
      long server = Long.parseLong(words[1]);
      Path directory = Path.of(words[2]);
      assertThat(EmbeddedPostgresTest.isRunning(server)).isTrue();
      assertThat(directory).exists();

      jvm.getOutputStream().write((end + "\n").getBytes(StandardCharsets.UTF_8));
      jvm.getOutputStream().flush();
      if (end == End.KILL_AFTER_SHELLS) {
        jvm.descendants()
            .filter(process -> process.pid() != server)
            .forEach(ProcessHandle::destroy);
      }
      if (end == End.KILL || end == End.KILL_AFTER_SHELLS) {
        jvm.destroyForcibly();
      }

      await()
          .alias(server + " and " + directory + " are gone after " + end)
          .atMost(Duration.ofSeconds(60))
          .until(() -> !EmbeddedPostgresTest.isRunning(server) && Files.notExists(directory));
    } finally {
      jvm.destroyForcibly().waitFor();
    }
  }

  private static BufferedReader reader(java.io.InputStream in) {
    return new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
  }
}
