package dev.outbox.publisher.http;

import static dev.outbox.embedded.TestMessages.error;
import static dev.outbox.embedded.TestMessages.publishUntilDelivered;
import static dev.outbox.publisher.http.TestMessages.batch;
import static dev.outbox.publisher.http.TestMessages.message;
import static dev.outbox.publisher.http.TestMessages.publishOne;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.embedded.SelfSigned;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Encrypted connections, and with them HTTP/2. */
class TlsTest {
  @TempDir private static Path directory;
  private static KeyStore keys;

  @BeforeAll
  static void makeCertificate() throws Exception {
    keys = SelfSigned.keys(directory, "dns:localhost");
  }

  @Test
  @DisplayName("a certificate that nobody we trust has signed is refused: unavailable")
  void selfSigned() throws Exception {
    try (Receiver receiver = Receiver.start(SelfSigned.server(keys))) {
      HttpPublisher publisher = TestMessages.publisher(receiver.url("/")).build();
      Result result = publishOne(publisher, message("k"));
      assertThat(result).isInstanceOf(Result.Unavailable.class);
      assertThat(error(result)).contains("SSLHandshakeException");
      assertThat(publisher.unreachable(TestMessages.TIMEOUT).orElseThrow()).contains("SSL");
      assertThat(receiver.requests).isEmpty();
    }
  }

  @Test
  @DisplayName("a context of the user's is used, and a certificate for another host refused")
  void ownContext() throws Exception {
    try (Receiver receiver = Receiver.start(SelfSigned.server(keys))) {
      HttpPublisher publisher =
          TestMessages.publisher(receiver.url("/")).sslContext(SelfSigned.trusting(keys)).build();
      assertThat(publishOne(publisher, message("k"))).isEqualTo(Result.delivered());
      String other = receiver.url("/").replace("localhost", "127.0.0.1");
      HttpPublisher wrongHost =
          TestMessages.publisher(other).sslContext(SelfSigned.trusting(keys)).build();
      assertThat(error(publishOne(wrongHost, message("k")))).contains("SSLHandshakeException");
    }
  }

  @Test
  @DisplayName("HTTP/2 is spoken where the server offers it: all requests on one connection")
  void http2() throws Exception {
    Queue<String> seen = new ConcurrentLinkedQueue<>();
    Server server = http2Server(128, seen::add);
    server.start();
    try {
      HttpPublisher publisher = publisher(server).build();
      String[] keys = IntStream.range(0, 200).mapToObj(i -> "k" + i % 100).toArray(String[]::new);
      assertThat(publisher.publish(batch(keys))).hasSize(200).containsOnly(Result.delivered());
      assertThat(seen).hasSize(200);
      assertThat(seen.stream().distinct()).singleElement().asString().startsWith("HTTP/2.0 {} ");
    } finally {
      server.stop();
    }
  }

  @Test
  @Timeout(60)
  @DisplayName("where the server takes fewer at once, no message is to blame, and all arrive")
  void fewAtOnce() throws Exception {
    CountDownLatch answers = new CountDownLatch(1);
    Queue<String> seen = new ConcurrentLinkedQueue<>();
    Server server =
        http2Server(
            8,
            request -> {
              if (seen.size() >= 20) {
                await().forever().until(() -> answers.getCount() == 0);
              }
              seen.add(request);
            });
    server.start();
    try {
      HttpPublisher publisher = publisher(server).timeout(Duration.ofSeconds(20)).build();
      String[] oneAfterTheOther = Collections.nCopies(20, "k").toArray(String[]::new);
      publishUntilDelivered(publisher, batch(oneAfterTheOther));
      String[] atOnce = IntStream.range(0, 50).mapToObj(i -> "k" + i).toArray(String[]::new);
      List<StoredMessage> messages = batch(atOnce);
      List<Result> refused = new ArrayList<>();
      while (refused.isEmpty()) {
        publisher.publish(messages).stream()
            .filter(result -> error(result).contains("takes no more requests at once"))
            .forEach(refused::add);
      }
      assertThat(refused).allMatch(TestMessages::isOpen);
      answers.countDown();
      publishUntilDelivered(publisher, messages);
      assertThat(seen).hasSize(70);
    } finally {
      server.stop();
    }
  }

  private static HttpPublisher.Builder publisher(Server server) throws Exception {
    int port = ((ServerConnector) server.getConnectors()[0]).getLocalPort();
    return TestMessages.publisher("https://localhost:%d/".formatted(port))
        .sslContext(SelfSigned.trusting(keys));
  }

  /**
   * @param sees version, body and connection of each request
   */
  private static Server http2Server(int atOnce, Consumer<String> sees) {
    SslContextFactory.Server ssl = new SslContextFactory.Server();
    ssl.setKeyStore(keys);
    ssl.setKeyStorePassword(SelfSigned.PASSWORD);
    HttpConfiguration http = new HttpConfiguration();
    http.addCustomizer(new SecureRequestCustomizer());
    HttpConnectionFactory http1 = new HttpConnectionFactory(http);
    ALPNServerConnectionFactory alpn = new ALPNServerConnectionFactory();
    alpn.setDefaultProtocol(http1.getProtocol());
    HTTP2ServerConnectionFactory http2 = new HTTP2ServerConnectionFactory(http);
    http2.setMaxConcurrentStreams(atOnce);
    Server server = new Server();
    ServerConnector connector =
        new ServerConnector(
            server, new SslConnectionFactory(ssl, alpn.getProtocol()), alpn, http2, http1);
    connector.setHost("localhost");
    server.addConnector(connector);
    server.setHandler(
        new Handler.Abstract() {
          @Override
          public boolean handle(Request request, Response response, Callback callback)
              throws Exception {
            String version = request.getConnectionMetaData().getHttpVersion().asString();
            String body = Content.Source.asString(request);
            sees.accept("%s %s %s".formatted(version, body, Request.getRemotePort(request)));
            response.setStatus(202);
            callback.succeeded();
            return true;
          }
        });
    return server;
  }
}
