package dev.outbox.example.readme;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpServer;
import dev.outbox.OutboxMessage;
import dev.outbox.publisher.http.HttpPublisher;
import dev.outbox.publisher.http.HttpPublisherProvider;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Events over HTTP, and a receiver that checks who sent them. */
class HttpTest {
  private static final String SECRET =
      "whsec_"
          + Base64.getEncoder().encodeToString("only-for-this-test-0123456789".getBytes(UTF_8));

  private final BlockingQueue<String> received = new LinkedBlockingQueue<>();
  private String expected = SECRET;
  private HttpServer server;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/events",
        exchange -> {
          byte[] body = exchange.getRequestBody().readAllBytes();
          boolean genuine = isGenuine(exchange.getRequestHeaders(), body, expected);
          if (genuine) {
            received.add(new String(body, UTF_8));
          }
          exchange.sendResponseHeaders(genuine ? 204 : 401, -1);
          exchange.close();
        });
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  /** Whether somebody who knows the secret has sent this, within the last five minutes. */
  static boolean isGenuine(Headers headers, byte[] body, String secret) {
    String id = headers.getFirst("webhook-id");
    String timestamp = headers.getFirst("webhook-timestamp");
    String signatures = headers.getFirst("webhook-signature");
    if (id == null || timestamp == null || signatures == null || !timestamp.matches("\\d{1,12}")) {
      return false;
    }
    Instant sent = Instant.ofEpochSecond(Long.parseLong(timestamp));
    if (Duration.between(sent, Instant.now()).abs().compareTo(Duration.ofMinutes(5)) > 0) {
      return false;
    }
    byte[] expected;
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      byte[] key = Base64.getDecoder().decode(secret.substring("whsec_".length()));
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      mac.update((id + "." + timestamp + ".").getBytes(UTF_8));
      expected = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes(UTF_8);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
    for (String signature : signatures.split(" ")) {
      if (MessageDigest.isEqual(signature.getBytes(UTF_8), expected)) { // takes as long if not
        return true;
      }
    }
    return false;
  }

  private static StoredMessage placed() {
    OutboxMessage message =
        OutboxMessage.builder()
            .aggregate("order", "order-1")
            .eventType("OrderPlaced")
            .payload("{\"total\": 12.50}")
            .build();
    return StoredMessage.of(1, 0, Instant.now(), message);
  }

  private HttpPublisher publisher(String secret) {
    String url = "http://localhost:%d/events".formatted(server.getAddress().getPort());
    // tag::publisher
    HttpPublisher http =
        HttpPublisher.builder()
            .url(url) // https://warehouse.example/events
            .cloudEvents(URI.create("https://shop.example/orders"))
            .structured()
            .signingSecrets(secret)
            .build();
    // end::publisher
    return http;
  }

  @Test
  void whoKnowsTheSecretIsHeard() throws Exception {
    assertThat(publisher(SECRET).publish(List.of(placed()))).containsExactly(Result.delivered());
    assertThat(received.take()).contains("\"type\":\"OrderPlaced\"", "\"data\":{\"total\": 12.50}");
    expected = "whsec_" + Base64.getEncoder().encodeToString("another".getBytes(UTF_8));
    assertThat(publisher(SECRET).publish(List.of(placed())).get(0))
        .isInstanceOf(Result.Unavailable.class);
    assertThat(received).isEmpty();
  }

  @Test
  void theRelaysPropertiesWork() throws Exception {
    Properties file = new Properties();
    try (InputStream in = getClass().getResourceAsStream("http.properties")) {
      file.load(in);
    }
    Map<String, String> properties =
        file.stringPropertyNames().stream()
            .filter(name -> !name.equals("publisher"))
            .collect(Collectors.toMap(name -> name, file::getProperty));
    HttpPublisherProvider provider = new HttpPublisherProvider();
    assertThat(file.getProperty("publisher")).isEqualTo(provider.name());
    assertThat(properties.keySet())
        .allMatch(
            name ->
                provider.properties().stream()
                    .anyMatch(
                        known ->
                            known.endsWith(".") ? name.startsWith(known) : name.equals(known)));
    properties.put("http.signingSecrets", SECRET);
    properties.put(
        "destination", "http://localhost:%d/events".formatted(server.getAddress().getPort()));
    try (MessagePublisher publisher = provider.open(properties, Duration.ofMinutes(1))) {
      assertThat(publisher.publish(List.of(placed()))).containsExactly(Result.delivered());
    }
    assertThat(received).hasSize(1);
  }
}
