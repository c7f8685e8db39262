package dev.outbox.example.readme;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.embedded.TestServer;
import dev.outbox.publisher.nats.NatsPublisher;
import dev.outbox.publisher.nats.NatsPublisherProvider;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import io.nats.client.Connection;
import io.nats.client.Nats;
import io.nats.client.api.StorageType;
import io.nats.client.api.StreamConfiguration;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Test;

/** The publisher for NATS as docs/nats.md shows it. */
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
  void aMessageGoesToTheStreamThatWasMade() throws Exception {
    OutboxMessage message =
        OutboxMessage.builder()
            .aggregate("order", "4711")
            .eventType("OrderPlaced")
            .payload("{}")
            .build();
    try (TestServer server = TestServer.nats();
        NatsPublisher nats = NatsPublisher.builder().servers(server.address()).build()) {
      addStream(server.address());
      assertThat(nats.publish(List.of(StoredMessage.of(1, 0, Instant.EPOCH, message))))
          .containsExactly(Result.delivered());
      try (Connection connection = Nats.connect(server.address())) {
        connection.jetStreamManagement().deleteStream("ORDERS");
      }
    }
  }

  private static void addStream(String servers) throws Exception {
    try (Connection connection = Nats.connect(servers)) {
      StreamConfiguration orders =
          StreamConfiguration.builder()
              .name("ORDERS")
              .subjects("order.>")
              .storageType(StorageType.File)
              .build();
      connection.jetStreamManagement().addStream(orders);
    }
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
