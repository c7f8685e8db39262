package dev.outbox.publisher.nats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.embedded.TestMessages;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import io.nats.client.Options;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What the builder and the provider refuse, and what a relay's properties do. */
class SettingsTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  @Test
  @DisplayName("what cannot work is refused when it is built, and secrets are not shown")
  void refused() {
    assertThatThrownBy(() -> NatsPublisher.builder().build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("servers is missing");
    assertThatThrownBy(
            () -> NatsPublisher.builder().servers("nats://h").timeout(Duration.ofMillis(9)).build())
        .hasMessageStartingWith("timeout is 9ms, allowed is from 1s");
    for (String url :
        List.of("nats://u:s3cret@h:port", "nats://u:x/s3cret@h:4222", "nats://u:x,s3cret@h:port")) {
      assertThatThrownBy(() -> NatsPublisher.builder().servers(url).build())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("settings of the client")
          .hasMessageNotContaining("s3cret");
    }
    assertThatThrownBy(
            () -> new NatsPublisherProvider().open(Map.of("destination", "{x}"), TIMEOUT))
        .hasMessageContaining("{x}");
    Map<String, String> noUri = Map.of("publisher.cloudEventsSource", "no uri");
    assertThatThrownBy(() -> new NatsPublisherProvider().open(noUri, TIMEOUT))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("publisher.cloudEventsSource is no uri, which is no URI");
  }

  @Test
  @DisplayName("the client does nothing again by itself, whatever it was told")
  void noReconnect() {
    AtomicReference<Options.Builder> given = new AtomicReference<>();
    NatsPublisher.builder()
        .servers("nats://127.0.0.1:1")
        .options(
            options -> {
              options.maxReconnects(99);
              given.compareAndSet(null, options); // a connection asks again, in its own thread
            })
        .build()
        .close();
    assertThat(given.get().build().getMaxReconnect()).isZero();
  }

  @Test
  @DisplayName("the provider names its properties, and those that begin as they do")
  void properties() {
    assertThat(new NatsPublisherProvider().properties())
        .contains("destination", "destination.", "nats.servers", "nats.password");
  }

  @Test
  @DisplayName("a relay's properties say which server, which user and where")
  void fromProperties() throws InterruptedException {
    String stream = TestNats.stream(settings -> settings);
    Map<String, String> properties =
        Map.of(
            "nats.servers",
            TestNats.url(),
            "nats.name",
            "the relay",
            "publisher.cloudEventsSource",
            "https://shop.example",
            "destination.order",
            stream + ".orders.{recordKey}");
    MessagePublisher publisher = new NatsPublisherProvider().open(properties, TIMEOUT);
    try (publisher) {
      assertThat(publisher.publish(TestMessages.batch(TestMessages.message("order", "a.b"))))
          .containsExactly(Result.delivered());
    }
    assertThat(TestNats.read(stream))
        .singleElement()
        .satisfies(
            message -> {
              assertThat(message.getSubject()).isEqualTo(stream + ".orders.a%2Eb");
              assertThat(message.getHeaders().getLast("ce-source"))
                  .isEqualTo("https://shop.example");
            });
  }

  @Test
  @DisplayName("the names of settings are those of the client: a password is one")
  void clientsNames() {
    Options options =
        new Options.Builder()
            .properties(
                NatsPublisherProvider.settings(
                    Map.of(
                        "nats.username",
                        "u",
                        "nats.password",
                        "p",
                        "nats.inbox.prefix",
                        "_MINE.",
                        "nats.name",
                        "n",
                        "nats.servers",
                        "nats://h:1")))
            .build();
    assertThat(options.getUsernameChars()).isEqualTo("u".toCharArray());
    assertThat(options.getPasswordChars()).isEqualTo("p".toCharArray());
    assertThat(options.getInboxPrefix()).isEqualTo("_MINE.");
    assertThat(options.getConnectionName()).isEqualTo("n");
  }
}
