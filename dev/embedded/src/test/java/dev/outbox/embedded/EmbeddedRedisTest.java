package dev.outbox.embedded;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

class EmbeddedRedisTest {

  private static EmbeddedRedis start(String... settings) {
    try {
      return EmbeddedRedis.start(settings);
    } catch (UnsupportedOperationException e) {
      throw new TestAbortedException("skipped: " + e.getMessage());
    }
  }

  /** The first line that the server answers with. */
  private static String ask(EmbeddedRedis redis, String command) throws IOException {
    try (Socket socket = new Socket("127.0.0.1", redis.port())) {
      socket.setSoTimeout(500);
      socket.getOutputStream().write((command + "\r\n").getBytes(US_ASCII));
      String line =
          new BufferedReader(new InputStreamReader(socket.getInputStream(), US_ASCII)).readLine();
      if (line == null) {
        throw new IOException("the connection was closed");
      }
      return line;
    }
  }

  @Test
  @DisplayName("a Redis starts, hangs, is killed, and has what it acknowledged when it comes back")
  void lives() throws IOException {
    Path directory;
    try (EmbeddedRedis redis = start("--maxmemory", "12mb")) {
      directory = redis.log().getParent();
      String url = redis.url();
      assertThat(ask(redis, "SET k 1")).isEqualTo("+OK");
      redis.pause();
      assertThatThrownBy(() -> ask(redis, "PING")).isInstanceOf(SocketTimeoutException.class);
      redis.resume();
      assertThat(ask(redis, "PING")).isEqualTo("+PONG");
      assertThat(ask(redis, "INCR k")).isEqualTo(":2");
      redis.kill();
      assertThatThrownBy(() -> ask(redis, "PING")).isInstanceOf(IOException.class);
      redis.restart();
      assertThat(redis.url()).isEqualTo(url);
      assertThat(ask(redis, "INCR k")).isEqualTo(":3");
      assertThat(directory).exists();
    }
    assertThat(directory).doesNotExist();
  }
}
