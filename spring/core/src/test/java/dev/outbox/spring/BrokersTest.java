package dev.outbox.spring;

import static dev.outbox.spring.Patience.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP.Queue;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import dev.outbox.embedded.TestServer;
import dev.outbox.spring.Servers.Schema;
import dev.outbox.spring.autoconfigure.Healths;
import io.nats.client.JetStream;
import io.nats.client.JetStreamSubscription;
import io.nats.client.Message;
import io.nats.client.Nats;
import io.nats.client.PushSubscribeOptions;
import io.nats.client.api.StreamConfiguration;
import java.net.URI;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.BeanUtils;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.util.ClassUtils;

/**
 * One application that publishes to RabbitMQ, NATS and over HTTP, each what is its own. RabbitMQ it
 * knows as {@code @ServiceConnection} and Docker Compose say it; the first node of two is not
 * there.
 */
@ExtendWith(Servers.Resolver.class)
class BrokersTest {

  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class App {}

  @Test
  void eachMessageGoesToTheBrokerOfItsType(Servers servers) throws Exception {
    Schema schema = servers.schema();
    try (HttpEndpoint http = new HttpEndpoint();
        TestServer rabbit = TestServer.rabbit();
        TestServer nats = TestServer.nats();
        Connection toRabbit = connect(rabbit);
        io.nats.client.Connection toNats = Nats.connect(nats.address())) {
      Channel channel = toRabbit.createChannel();
      String exchange = schema.name() + ".order";
      channel.exchangeDeclare(exchange, "topic", true);
      Queue.DeclareOk queue = channel.queueDeclare();
      channel.queueBind(queue.getQueue(), exchange, "key.OrderPlaced");
      JetStreamSubscription letters = stream(toNats, schema.name());
      try (Application application =
          Application.start(
              schema,
              List.of(App.class),
              context -> register(context, rabbit),
              Application.WITHOUT_JPA,
              "--outbox.publisher=rabbitmq,nats,http",
              "--outbox.destination=" + schema.name() + ".{aggregateType}",
              "--outbox.rabbitmq.routing-key=key.{eventType}",
              "--spring.rabbitmq.port=1",
              "--outbox.nats.types=letter",
              "--outbox.nats.servers=" + nats.address(),
              "--outbox.http.types=invoice,reminder",
              "--outbox.http.destination=%s/{aggregateType}".formatted(http.url()),
              "--outbox.http.cloud-events-source=https://shop.example/orders",
              "--outbox.http.mode=structured",
              "--outbox.http.headers.Authorization=Bearer secret")) {
        application
            .transaction()
            .executeWithoutResult(
                status -> {
                  application.append(Application.message("order", "1", "OrderPlaced"));
                  application.append(Application.message("letter", "1", "LetterSent"));
                  application.append(Application.message("invoice", "1", "InvoiceSent"));
                });

        GetResponse order =
            await().until(() -> channel.basicGet(queue.getQueue(), true), got -> got != null);
        assertThat(order.getBody()).asString(UTF_8).isEqualTo("{\"type\":\"OrderPlaced\"}");
        Message letter = letters.nextMessage(Patience.LIMIT);
        assertThat(letter.getData()).asString(UTF_8).isEqualTo("{\"type\":\"LetterSent\"}");
        await().until(() -> application.messages() == 0);
        assertThat(http.requests)
            .singleElement()
            .satisfies(
                invoice -> {
                  assertThat(invoice.path()).isEqualTo("/invoice");
                  assertThat(invoice.headers().getFirst("Content-Type"))
                      .startsWith("application/cloudevents+json");
                  assertThat(invoice.headers().getFirst("Authorization"))
                      .isEqualTo("Bearer secret");
                  assertThat(invoice.body()).contains("InvoiceSent", "https://shop.example/orders");
                });
        assertThat(Healths.broker(application.context())).isEqualTo("reachable");
      } finally {
        channel.exchangeDelete(exchange);
        toNats.jetStreamManagement().deleteStream(schema.name());
      }
    }
  }

  private static Connection connect(TestServer rabbit) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(rabbit.address());
    return factory.newConnection();
  }

  private static JetStreamSubscription stream(io.nats.client.Connection nats, String name)
      throws Exception {
    nats.jetStreamManagement()
        .addStream(StreamConfiguration.builder().name(name).subjects(name + ".letter").build());
    JetStream stream = nats.jetStream();
    return stream.subscribe(name + ".letter", PushSubscribeOptions.stream(name));
  }

  private static void register(GenericApplicationContext context, TestServer rabbit) {
    URI uri = URI.create(rabbit.address());
    String[] user = uri.getUserInfo().split(":", 2);
    Class<?> details = BootType.of("amqp", "RabbitConnectionDetails");
    ServiceConnections.register(
        context,
        details,
        Map.of(
            "getUsername",
            user[0],
            "getPassword",
            user[1],
            "getVirtualHost",
            "/",
            "getAddresses",
            List.of(
                address(details, uri.getHost(), 1),
                address(details, uri.getHost(), uri.getPort()))));
  }

  private static Object address(Class<?> details, String host, int port) {
    return BeanUtils.instantiateClass(
        ClassUtils.getConstructorIfAvailable(
            ClassUtils.resolveClassName(details.getName() + "$Address", null),
            String.class,
            int.class),
        host,
        port);
  }
}
