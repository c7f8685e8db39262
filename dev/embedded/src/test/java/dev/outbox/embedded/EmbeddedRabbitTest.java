package dev.outbox.embedded;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

/** Messages kept over SIGKILL are tested where there is a client: in outbox-publisher-rabbitmq. */
class EmbeddedRabbitTest {

  @Test
  @DisplayName("stopped, killed and paused it does not answer; restarted and resumed it does")
  void stopKillPause() throws Exception {
    EmbeddedRabbit rabbit = start();
    List<Long> processes;
    Path directory = rabbit.directory();
    try (rabbit) {
      int port = rabbit.port();
      assertAnswers(port);
      assertThat(rabbit.control("list_users")).contains("outbox").doesNotContain("guest");
      processes = family(rabbit.pid());
      assertThat(processes).as("the server and what it started").hasSizeGreaterThan(1);

      rabbit.pause();
      assertThatThrownBy(() -> answers(port, 2_000)).isInstanceOf(SocketTimeoutException.class);
      rabbit.resume();
      assertAnswers(port);

      rabbit.kill();
      assertThatThrownBy(() -> answers(port, 2_000)).isInstanceOf(IOException.class);
      rabbit.restart();
      assertAnswers(port);
      rabbit.pause();
    }
    assertThat(processes).noneMatch(EmbeddedPostgresTest::isRunning);
    assertThat(ProcessHandle.allProcesses().filter(p -> mentions(p, directory))).isEmpty();
    assertThat(directory).doesNotExist();
    rabbit.close();
    assertThatThrownBy(rabbit::pause).hasMessageContaining("RabbitMQ does not run");
  }

  @Test
  @DisplayName("a JVM that is killed leaves no broker and no files")
  void jvmEnds() throws Exception {
    start().close(); // or this is skipped, where there is none
    OtherJvm.assertLeavesNothing(EmbeddedRabbitTest.class, OtherJvm.End.KILL);
  }

  /** Starts a broker in a JVM of its own, for {@link OtherJvm}. */
  public static void main(String[] args) throws Exception {
    EmbeddedRabbit rabbit = EmbeddedRabbit.builder().start();
    OtherJvm.run(rabbit.pid(), rabbit.directory());
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

  private static void assertAnswers(int port) throws IOException {
    assertThat(answers(port, 60_000)).as("the broker answers on port " + port).isTrue();
  }

  /** Greets as AMQP 0-9-1 asks for it; the answer is a frame of a method. */
  private static boolean answers(int port, int millis) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(millis);
      socket.getOutputStream().write("AMQP\0\0\11\1".getBytes(US_ASCII));
      socket.getOutputStream().flush();
      return socket.getInputStream().read() == 1;
    }
  }
}
