package dev.outbox.publisher.rabbitmq;

import static dev.outbox.embedded.TestMessages.destination;
import static dev.outbox.embedded.TestMessages.error;
import static dev.outbox.embedded.TestMessages.message;
import static dev.outbox.embedded.TestMessages.stored;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.ConnectionFactory;
import dev.outbox.OutboxMessage;
import dev.outbox.embedded.EmbeddedRabbit;
import dev.outbox.embedded.SelfSigned;
import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.TestAbortedException;

/** A broker with a certificate of its own, which the JVM does not trust. */
class TlsTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(8);

  @TempDir Path directory;

  @Test
  @DisplayName(
      "certificates are checked, a trusted one works, also a renewed one, and a write that hangs is ended")
  void tls() throws Exception {
    KeyStore keys = SelfSigned.keys(directory, "ip:127.0.0.1");
    try (EmbeddedRabbit rabbit = start(keys)) {
      try (var strict = RabbitPublisher.builder().uri(rabbit.tlsUri()).timeout(TIMEOUT).build()) {
        refused(strict, "certif");
      }
      Path trusted = directory.resolve("trusted.p12");
      trust(keys, trusted);
      Map<String, String> properties =
          Map.of(
              "rabbitmq.uri",
              rabbit.tlsUri(),
              "rabbitmq.ssl.enabled",
              "true",
              "rabbitmq.ssl.trust.store",
              trusted.toString(),
              "rabbitmq.ssl.trust.store.type",
              "PKCS12",
              "rabbitmq.ssl.trust.store.password",
              SelfSigned.PASSWORD,
              "destination",
              "amq.fanout");
      try (var strict =
          new RabbitPublisherProvider().open(without(properties, ".trust"), TIMEOUT)) {
        refused(strict, "certif");
      }
      try (MessagePublisher publisher = new RabbitPublisherProvider().open(properties, TIMEOUT)) {
        Result result = publisher.publish(List.of(stored(message("t", "k")))).get(0);
        assertThat(destination(result)).as(error(result)).isEqualTo("amq.fanout/Happened");
        keys = renewed(rabbit);
        refused(publisher, "signature");
        trust(keys, trusted);
        result = publisher.publish(List.of(stored(message("t", "k")))).get(0);
        assertThat(destination(result)).as(error(result)).isEqualTo("amq.fanout/Happened");
      }
      hangs(rabbit, keys);
    }
  }

  private static void trust(KeyStore keys, Path file) throws Exception {
    try (var out = Files.newOutputStream(file)) {
      SelfSigned.certificate(keys).store(out, SelfSigned.PASSWORD.toCharArray());
    }
  }

  /** The broker has another certificate, by which nobody knows it. */
  private KeyStore renewed(EmbeddedRabbit rabbit) throws Exception {
    Files.delete(directory.resolve("keys.p12"));
    KeyStore keys = SelfSigned.keys(directory, "ip:127.0.0.1");
    write(keys);
    rabbit.restart();
    return keys;
  }

  private static void refused(MessagePublisher publisher, String why) throws Exception {
    Result result = publisher.publish(List.of(stored(message("t", "k")))).get(0);
    assertThat(destination(result)).isNull();
    assertThat(error(result)).contains("amqps://127.0.0.1").contains("cannot be reached");
    assertThat(error(result)).containsIgnoringCase(why);
  }

  private static Map<String, String> without(Map<String, String> all, String part) {
    Map<String, String> rest = new HashMap<>(all);
    rest.keySet().removeIf(name -> name.contains(part));
    return rest;
  }

  /** Closing a socket with TLS waits for the write that hangs, unless it is told not to. */
  private void hangs(EmbeddedRabbit rabbit, KeyStore keys) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(rabbit.tlsUri());
    factory.useSslProtocol(SelfSigned.trusting(keys));
    factory.enableHostnameVerification();
    List<StoredMessage> large =
        IntStream.range(0, 40)
            .mapToObj(
                i -> stored(message("t", "k" + i).payload(new byte[OutboxMessage.MAX_PAYLOAD])))
            .toList();
    try (RabbitPublisher publisher =
        RabbitPublisher.builder()
            .connectionFactory(factory)
            .destination(Destination.pattern("amq.fanout"))
            .timeout(TIMEOUT)
            .build()) {
      Result first = publisher.publish(large.subList(0, 1)).get(0);
      assertThat(destination(first)).isEqualTo("amq.fanout/Happened");
      rabbit.pause();
      List<Result> results =
          CompletableFuture.supplyAsync(() -> publish(publisher, large)).get(30, TimeUnit.SECONDS);
      assertThat(results).allSatisfy(r -> assertThat(destination(r)).isNull());
      CompletableFuture.runAsync(publisher::close).get(30, TimeUnit.SECONDS);
      rabbit.resume();
    }
  }

  private static List<Result> publish(MessagePublisher publisher, List<StoredMessage> messages) {
    try {
      return publisher.publish(messages);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private EmbeddedRabbit start(KeyStore keys) throws Exception {
    write(keys);
    try {
      return EmbeddedRabbit.builder()
          .tls(directory.resolve("certificate.pem"), directory.resolve("key.pem"))
          .start();
    } catch (UnsupportedOperationException e) {
      throw new TestAbortedException("skipped: " + e.getMessage());
    }
  }

  private void write(KeyStore keys) throws Exception {
    byte[] certified = keys.getCertificate(SelfSigned.ALIAS).getEncoded();
    Files.writeString(directory.resolve("certificate.pem"), pem("CERTIFICATE", certified));
    byte[] secret = keys.getKey(SelfSigned.ALIAS, SelfSigned.PASSWORD.toCharArray()).getEncoded();
    Files.writeString(directory.resolve("key.pem"), pem("PRIVATE KEY", secret));
  }

  private static String pem(String what, byte[] bytes) {
    String base64 = Base64.getMimeEncoder(64, "\n".getBytes(US_ASCII)).encodeToString(bytes);
    return "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(what, base64, what);
  }
}
