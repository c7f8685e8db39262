package dev.outbox.spring;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.AMQP.Queue;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.outbox.JoinedOutbox;
import dev.outbox.OutboxMessage;
import dev.outbox.embedded.TestServer;
import dev.outbox.spring.Servers.Schema;
import dev.outbox.spring.autoconfigure.Healths;
import dev.outbox.spring.shop.ShopApplication;
import io.nats.client.JetStream;
import io.nats.client.JetStreamSubscription;
import io.nats.client.Message;
import io.nats.client.Nats;
import io.nats.client.PushSubscribeOptions;
import io.nats.client.api.StreamConfiguration;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.ClassUtils;

/**
 * One application that publishes to RabbitMQ, NATS and over HTTP, each what is its own. RabbitMQ it
 * knows as {@code @ServiceConnection} and Docker Compose say it; the first node of two is not
 * there.
 */
@ExtendWith(Servers.Resolver.class)
class BrokersTest {
  private static final List<String> DETAILS =
      List.of(
          "org.springframework.boot.autoconfigure.amqp.RabbitConnectionDetails",
          "org.springframework.boot.amqp.autoconfigure.RabbitConnectionDetails");

  /** What came to the endpoint. */
  private record Request(String path, String type, String token, String body) {}

  private final BlockingQueue<Request> requests = new LinkedBlockingQueue<>();

  @Test
  void eachMessageGoesToTheBrokerOfItsType(Servers servers) throws Exception {
    Schema schema = servers.schema();
    HttpServer http = endpoint();
    try (TestServer rabbit = TestServer.rabbit();
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
              List.of(ShopApplication.class),
              context -> register(context, rabbit),
              "--outbox.publisher=rabbitmq,nats,http",
              "--outbox.destination=" + schema.name() + ".{aggregateType}",
              "--outbox.rabbitmq.routing-key=key.{eventType}",
              "--spring.rabbitmq.port=1",
              "--outbox.nats.types=letter",
              "--outbox.nats.servers=" + nats.address(),
              "--outbox.http.types=invoice,reminder",
              "--outbox.http.destination=http://127.0.0.1:%d/{aggregateType}"
                  .formatted(http.getAddress().getPort()),
              "--outbox.http.cloud-events-source=https://shop.example/orders",
              "--outbox.http.mode=structured",
              "--outbox.http.headers.Authorization=Bearer secret")) {
        append(application, "order", "OrderPlaced");
        append(application, "letter", "LetterSent");
        append(application, "invoice", "InvoiceSent");

        GetResponse order =
            await()
                .atMost(Duration.ofMinutes(1))
                .until(() -> channel.basicGet(queue.getQueue(), true), got -> got != null);
        assertThat(order.getBody()).asString(UTF_8).isEqualTo("{\"of\": \"order\"}");
        Message letter = letters.nextMessage(Duration.ofMinutes(1));
        assertThat(letter.getData()).asString(UTF_8).isEqualTo("{\"of\": \"letter\"}");
        Request invoice = requests.poll(1, TimeUnit.MINUTES);
        assertThat(invoice.path()).isEqualTo("/invoice");
        assertThat(invoice.type()).startsWith("application/cloudevents+json");
        assertThat(invoice.token()).isEqualTo("Bearer secret");
        assertThat(invoice.body()).contains("InvoiceSent", "https://shop.example/orders");
        await().atMost(Duration.ofMinutes(1)).until(() -> application.messages() == 0);
        assertThat(requests).isEmpty();
        assertThat(Healths.broker(application.context())).isEqualTo("reachable");
      } finally {
        channel.exchangeDelete(exchange);
        toNats.jetStreamManagement().deleteStream(schema.name());
      }
    } finally {
      http.stop(0);
    }
  }

  private static void append(Application application, String aggregate, String event) {
    JoinedOutbox outbox = application.bean(JoinedOutbox.class);
    application
        .bean(TransactionTemplate.class)
        .executeWithoutResult(
            status ->
                outbox.append(
                    OutboxMessage.builder()
                        .aggregate(aggregate, aggregate + "-1")
                        .eventType(event)
                        .payload("{\"of\": \"%s\"}".formatted(aggregate))
                        .build()));
  }

  private HttpServer endpoint() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::answer);
    server.start();
    return server;
  }

  private void answer(HttpExchange exchange) throws IOException {
    if (exchange.getRequestMethod().equals("POST")) { // the relay also asks for a sign of life
      requests.add(
          new Request(
              exchange.getRequestURI().getPath(),
              exchange.getRequestHeaders().getFirst("Content-Type"),
              exchange.getRequestHeaders().getFirst("Authorization"),
              new String(exchange.getRequestBody().readAllBytes(), UTF_8)));
    }
    exchange.sendResponseHeaders(204, -1);
    exchange.close();
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
    ServiceConnections.register(
        context,
        Map.of(
            "getUsername",
            user[0],
            "getPassword",
            user[1],
            "getVirtualHost",
            "/",
            "getAddresses",
            List.of(address(uri.getHost(), 1), address(uri.getHost(), uri.getPort()))),
        DETAILS.toArray(String[]::new));
  }

  /** Of the type of this generation. */
  private static Object address(String host, int port) {
    for (String type : DETAILS) {
      if (ClassUtils.isPresent(type, null)) {
        Class<?> address = ClassUtils.resolveClassName(type + "$Address", null);
        try {
          return address.getConstructor(String.class, int.class).newInstance(host, port);
        } catch (ReflectiveOperationException e) {
          throw new IllegalStateException(e);
        }
      }
    }
    throw new IllegalStateException("Boot has none of " + DETAILS);
  }
}
