package dev.outbox.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Records kept over SIGKILL are tested where there is a client: in outbox-publisher-kafka. */
class EmbeddedKafkaTest {

  @Test
  @DisplayName("stopped, killed and paused it does not answer; restarted and resumed it does")
  void stopKillPause() throws Exception {
    try (EmbeddedKafka kafka = EmbeddedKafka.start()) {
      int port = kafka.port();
      assertAnswers(port);

      kafka.stop();
      assertThatThrownBy(() -> answers(port, 2_000)).isInstanceOf(IOException.class);
      kafka.restart();
      assertAnswers(port);

      kafka.kill();
      assertThatThrownBy(() -> answers(port, 2_000)).isInstanceOf(IOException.class);
      kafka.restart();
      assertAnswers(port);

      kafka.pause();
      assertThatThrownBy(() -> answers(port, 2_000)).isInstanceOf(SocketTimeoutException.class);
      kafka.resume();
      assertAnswers(port);

      kafka.pause();
      kafka.restart();
      assertAnswers(port);
    }
  }

  @Test
  @DisplayName("after close no process and no file is left")
  void closeLeavesNothing() {
    EmbeddedKafka kafka = EmbeddedKafka.start();
    long pid = kafka.pid();
    Path directory = kafka.directory();
    assertThat(EmbeddedPostgresTest.isRunning(pid)).isTrue();
    kafka.pause();
    kafka.close();
    assertThat(EmbeddedPostgresTest.isRunning(pid)).isFalse();
    assertThat(directory).doesNotExist();
    kafka.close();
    assertThatThrownBy(kafka::pause).hasMessageContaining("Kafka does not run");
  }

  @Test
  @DisplayName("a setting that the broker refuses is an error with what it said")
  void badSetting() {
    assertThatThrownBy(() -> EmbeddedKafka.builder().setting("num.io.threads", "none").start())
        .hasMessageContaining("num.io.threads");
  }

  @Test
  @DisplayName("a JVM that is killed, and one that halts, leave no broker and no files")
  void jvmEnds() throws Exception {
    OtherJvm.assertLeavesNothing(EmbeddedKafkaTest.class, OtherJvm.End.KILL);
    OtherJvm.assertLeavesNothing(EmbeddedKafkaTest.class, OtherJvm.End.HALT);
  }

  /** Starts a broker in a JVM of its own, for {@link OtherJvm}. */
  public static void main(String[] args) throws Exception {
    EmbeddedKafka kafka = EmbeddedKafka.start();
    OtherJvm.run(kafka.pid(), kafka.directory());
  }

  private static void assertAnswers(int port) throws IOException {
    assertThat(answers(port, 60_000)).as("the broker answers on port " + port).isTrue();
  }

  /** Sends an ApiVersions request, version 0, and waits at most so long for the answer. */
  private static boolean answers(int port, int millis) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(millis);
      ByteBuffer request = ByteBuffer.allocate(14);
      request.putInt(10).putShort((short) 18).putShort((short) 0).putInt(42).putShort((short) -1);
      socket.getOutputStream().write(request.array());
      socket.getOutputStream().flush();
      InputStream in = socket.getInputStream();
      byte[] head = in.readNBytes(8);
      return head.length == 8 && ByteBuffer.wrap(head).getInt(4) == 42;
    }
  }
}
