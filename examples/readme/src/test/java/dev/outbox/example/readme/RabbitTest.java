package dev.outbox.example.readme;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.ConnectionFactory;
import dev.outbox.OutboxMessage;
import dev.outbox.embedded.TestServer;
import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.rabbitmq.RabbitPublisher;
import dev.outbox.relay.Relay;
import dev.outbox.store.postgres.PostgresOutboxStore;
import java.net.URI;
import java.sql.Connection;
import org.junit.jupiter.api.Test;

class RabbitTest {

  @Test
  void aMessageGoesToItsExchange() throws Exception {
    try (TestServer server = TestServer.rabbit();
        Shop shop = new Shop()) {
      PostgresOutboxStore outbox = PostgresOutboxStore.of(shop.dataSource);
      outbox.migrate();
      append(shop, outbox);
      URI uri = URI.create(server.address());
      String password = uri.getUserInfo().replaceFirst(".*:", "");
      String host = uri.getHost();
      int port = uri.getPort();
      ConnectionFactory factory = new ConnectionFactory();
      factory.setUri(uri);
      try (com.rabbitmq.client.Connection connection = factory.newConnection()) {
        var channel = connection.createChannel();
        channel.exchangeDeclare("shop.order", "topic", true);
        channel.queueDeclare("bills", true, false, false, null);
        channel.queueBind("bills", "shop.order", "OrderPlaced");
        publish(outbox, password, host, port, uri.getUserInfo().replaceFirst(":.*", ""));
        assertThat(channel.basicGet("bills", true).getProps().getType()).isEqualTo("OrderPlaced");
        channel.exchangeDelete("shop.order");
        channel.queueDelete("bills");
      }
    }
  }

  private static void publish(
      PostgresOutboxStore outbox, String password, String host, int port, String user)
      throws InterruptedException {
    // tag::rabbit
    RabbitPublisher rabbit =
        RabbitPublisher.builder()
            .uri("amqp://" + user + ":" + password + "@" + host + ":" + port)
            .destination(Destination.pattern("shop.{aggregateType}"))
            .routingKey(Destination.pattern("{eventType}"))
            .build();
    Relay relay = Relay.builder(outbox, rabbit).build();
    // end::rabbit
    relay.runOnce();
    relay.close();
    rabbit.close();
  }

  private static void append(Shop shop, PostgresOutboxStore outbox) throws Exception {
    try (Connection connection = shop.dataSource.getConnection()) {
      connection.setAutoCommit(false);
      outbox.append(
          connection,
          OutboxMessage.builder()
              .aggregate("order", "order-1")
              .eventType("OrderPlaced")
              .payload("{}")
              .build());
      connection.commit();
    }
  }
}
