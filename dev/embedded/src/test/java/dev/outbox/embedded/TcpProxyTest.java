package dev.outbox.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The proxy")
class TcpProxyTest {
  private ServerSocket listener;
  private TcpProxy proxy;
  private Socket client;
  private Socket server;

  @BeforeEach
  void connect() throws IOException {
    listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    proxy = new TcpProxy();
    proxy.target(listener.getLocalPort());
    client = new Socket(InetAddress.getLoopbackAddress(), proxy.port());
    server = listener.accept();
    for (Socket socket : new Socket[] {client, server}) {
      socket.setSoTimeout(20_000);
    }
    await().atMost(Duration.ofMinutes(1)).until(() -> proxy.links().size() == 1);
  }

  @AfterEach
  void close() throws IOException {
    proxy.close();
    client.close();
    server.close();
    listener.close();
  }

  private static void assertPasses(Socket from, Socket to, int what) throws IOException {
    from.getOutputStream().write(what);
    assertThat(to.getInputStream().read()).isEqualTo(what);
  }

  private TcpProxy.Link link() {
    return proxy.links().get(0);
  }

  @Test
  @DisplayName("passes bytes in both directions, and the end of one of them")
  void passes() throws IOException {
    assertPasses(client, server, 1);
    assertPasses(server, client, 2);
    client.shutdownOutput();
    assertThat(server.getInputStream().read()).isEqualTo(-1);
    assertPasses(server, client, 3);
    server.close();
    assertThat(client.getInputStream().read()).isEqualTo(-1);
    await().atMost(Duration.ofMinutes(1)).until(() -> proxy.links().isEmpty());
  }

  @Test
  @DisplayName("cuts: both ends see it")
  void cuts() {
    link().cut();
    assertThatThrownBy(() -> client.getInputStream().read()).hasMessageContaining("reset");
    assertThatThrownBy(() -> server.getInputStream().read()).hasMessageContaining("reset");
    assertThat(proxy.links()).isEmpty();
  }

  @Test
  @DisplayName("stalls: nothing gets through until it is healed, and nothing is lost")
  void stalls() throws IOException {
    TcpProxy.Link link = link();
    link.stall();
    client.getOutputStream().write(1);
    server.setSoTimeout(200);
    assertThatThrownBy(() -> server.getInputStream().read())
        .isInstanceOf(SocketTimeoutException.class);
    link.heal();
    server.setSoTimeout(20_000);
    assertThat(server.getInputStream().read()).isEqualTo(1);
  }

  @Test
  @DisplayName("closes one half: the other still gets through")
  void halfCloses() throws IOException {
    link().halfClose(true);
    assertThat(server.getInputStream().read()).isEqualTo(-1);
    assertPasses(server, client, 1);
  }

  @Test
  @DisplayName("closes what connects while the server is away")
  void away() throws IOException {
    listener.close();
    try (Socket other = new Socket(InetAddress.getLoopbackAddress(), proxy.port())) {
      other.setSoTimeout(20_000);
      assertThat(other.getInputStream().read()).isEqualTo(-1);
    }
  }
}
