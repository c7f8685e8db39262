package dev.outbox.embedded;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

class EmbeddedNatsTest {

  private static EmbeddedNats start(String settings) {
    try {
      return EmbeddedNats.start(settings);
    } catch (UnsupportedOperationException e) {
      throw new TestAbortedException("skipped: " + e.getMessage());
    }
  }

  /** What a server says first. */
  private static String info(EmbeddedNats nats) throws IOException {
    try (Socket socket = new Socket("127.0.0.1", URI.create(nats.url()).getPort())) {
      socket.setSoTimeout(500);
      return new BufferedReader(new InputStreamReader(socket.getInputStream(), US_ASCII))
          .readLine();
    }
  }

  @Test
  @DisplayName("a NATS with JetStream starts, hangs, is killed and comes back on its port and data")
  void lives() throws IOException {
    Path directory;
    try (EmbeddedNats nats = start("max_payload: 12345")) {
      directory = nats.log().getParent();
      String url = nats.url();
      assertThat(info(nats)).startsWith("INFO {").contains("\"jetstream\":true", "12345");
      nats.pause();
      assertThatThrownBy(() -> info(nats)).isInstanceOf(SocketTimeoutException.class);
      nats.resume();
      assertThat(info(nats)).startsWith("INFO {");
      nats.kill();
      assertThatThrownBy(() -> info(nats)).isInstanceOf(IOException.class);
      nats.restart();
      assertThat(nats.url()).isEqualTo(url);
      assertThat(info(nats)).startsWith("INFO {");
      assertThat(directory).exists();
    }
    assertThat(directory).doesNotExist();
  }
}
