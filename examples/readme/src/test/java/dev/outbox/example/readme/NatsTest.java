package dev.outbox.example.readme;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.publisher.nats.NatsPublisher;
import dev.outbox.publisher.nats.NatsPublisherProvider;
import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import org.junit.jupiter.api.Test;

/** The publisher for NATS as docs/nats.md shows it; the module's own tests run it on a server. */
class NatsTest {

  @Test
  void isBuiltWithoutAServer() {
    // tag::nats
    NatsPublisher nats = NatsPublisher.builder().servers("nats://localhost:4222").build();
    // end::nats
    assertThat(nats.address()).isEqualTo("nats://localhost:4222");
    nats.close();
  }

  @Test
  void theRelaysPropertiesAreKnown() throws IOException {
    Properties file = new Properties();
    try (InputStream in = getClass().getResourceAsStream("nats.properties")) {
      file.load(in);
    }
    NatsPublisherProvider provider = new NatsPublisherProvider();
    assertThat(file.remove("publisher")).isEqualTo(provider.name());
    assertThat(provider.properties()).containsAll(file.stringPropertyNames());
  }
}
