package dev.outbox.dev.bench;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.MessageProperties;
import com.sun.net.httpserver.HttpServer;
import dev.outbox.embedded.EmbeddedNats;
import dev.outbox.embedded.EmbeddedRabbit;
import dev.outbox.embedded.EmbeddedServer;
import dev.outbox.publisher.core.Attributes;
import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.http.HttpPublisher;
import dev.outbox.publisher.nats.NatsPublisher;
import dev.outbox.publisher.rabbitmq.RabbitPublisher;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import io.nats.client.JetStream;
import io.nats.client.Nats;
import io.nats.client.api.StorageType;
import io.nats.client.api.StreamConfiguration;
import io.nats.client.impl.Headers;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Date;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * A server that was started for this, whose publisher is measured beside its own client: the limit.
 *
 * @param name with the version where we know it
 * @param pid of its first process; empty: it is in this one
 * @param publisher with its defaults
 * @param clients makes one for a thread; they share a connection, as our publisher has one
 * @param arrived how many messages have arrived since it was asked last; they are removed, so that
 *     what they are in is as long for each
 * @param end ends the server, and what is connected to it
 */
record Measured(
    String name,
    OptionalLong pid,
    MessagePublisher publisher,
    Callable<Client> clients,
    Callable<Long> arrived,
    AutoCloseable end)
    implements AutoCloseable {
  private static final String PLACE = "bench";
  private static final URI SOURCE = URI.create("urn:outbox:dev");
  private static final int NO_CONTENT = 204;
  private static final int BAD_REQUEST = 400;
  private static final int NO_BODY = -1;

  /**
   * The server's own client, used by one thread.
   *
   * @param mostAtOnce so many messages may be without their acknowledgement
   * @param sending sends what our publisher sends of a message
   */
  record Client(int mostAtOnce, Sending sending) {}

  interface Sending {
    /**
     * Sends a message.
     *
     * @param answered called by any thread: with whether the server has it
     */
    void send(StoredMessage message, Consumer<Boolean> answered) throws Exception;
  }

  /** RabbitMQ, with one durable queue. */
  static Measured rabbit() throws Exception {
    EmbeddedRabbit server = EmbeddedRabbit.builder().start();
    return orEnd(
        server,
        () -> {
          ConnectionFactory factory = new ConnectionFactory();
          factory.setUri(server.uri());
          factory.setAutomaticRecoveryEnabled(false);
          var connection = factory.newConnection();
          Channel channel = connection.createChannel();
          String queue = channel.queueDeclare(PLACE, true, false, false, Map.of()).getQueue();
          return new Measured(
              name(server),
              OptionalLong.of(server.pid()),
              RabbitPublisher.builder()
                  .uri(server.uri())
                  .destination(Destination.pattern("amq.default"))
                  .routingKey(Destination.pattern(queue))
                  .build(),
              () -> client(connection.createChannel(), queue),
              () -> (long) channel.queuePurge(queue).getMessageCount(),
              () -> {
                try (server) {
                  connection.abort();
                }
              });
        });
  }

  /** With confirms. */
  private static Client client(Channel channel, String queue) throws IOException {
    ConcurrentNavigableMap<Long, Consumer<Boolean>> unconfirmed = new ConcurrentSkipListMap<>();
    channel.confirmSelect();
    channel.addConfirmListener(
        (tag, multiple) -> answer(unconfirmed, tag, multiple, true),
        (tag, multiple) -> answer(unconfirmed, tag, multiple, false));
    return new Client(
        Integer.MAX_VALUE,
        (message, answered) -> {
          Map<String, Object> headers = new HashMap<>();
          headers.put("outbox-key", message.message().recordKey());
          Attributes.forEach(message, headers::put);
          BasicProperties properties =
              MessageProperties.MINIMAL_PERSISTENT_BASIC
                  .builder()
                  .messageId(message.message().id().toString())
                  .timestamp(Date.from(message.createdAt()))
                  .type(message.message().eventType())
                  .contentType(message.message().contentType())
                  .headers(headers)
                  .build();
          unconfirmed.put(channel.getNextPublishSeqNo(), answered);
          channel.basicPublish("", queue, true, properties, message.message().payload());
        });
  }

  private static void answer(
      ConcurrentNavigableMap<Long, Consumer<Boolean>> unconfirmed,
      long tag,
      boolean multiple,
      boolean taken) {
    Map<Long, Consumer<Boolean>> ended =
        multiple ? unconfirmed.headMap(tag, true) : unconfirmed.subMap(tag, tag + 1);
    ended.values().forEach(answered -> answered.accept(taken));
    ended.clear();
  }

  /** NATS, with a stream of one subject, in files. */
  static Measured nats() throws Exception {
    EmbeddedNats server = EmbeddedNats.start();
    return orEnd(
        server,
        () -> {
          var connection = Nats.connect(server.url());
          var unused =
              connection
                  .jetStreamManagement()
                  .addStream(
                      StreamConfiguration.builder()
                          .name(PLACE)
                          .subjects(PLACE)
                          .storageType(StorageType.File)
                          .build());
          return new Measured(
              name(server),
              OptionalLong.of(server.pid()),
              NatsPublisher.builder()
                  .servers(server.url())
                  .destination(Destination.pattern(PLACE))
                  .build(),
              () -> client(connection.jetStream()),
              () -> connection.jetStreamManagement().purgeStream(PLACE).getPurged(),
              () -> {
                try (server) {
                  connection.close();
                }
              });
        });
  }

  /** One that waits for more is refused by its own limit. */
  private static Client client(JetStream stream) {
    return new Client(
        1_000,
        (message, answered) -> {
          Headers headers = new Headers();
          headers.put("Nats-Msg-Id", message.message().id().toString());
          headers.put("outbox-key", message.message().recordKey());
          Attributes.forEach(message, headers::put);
          var unused =
              stream
                  .publishAsync(PLACE, headers, message.message().payload())
                  .whenComplete((acknowledgement, error) -> answered.accept(error == null));
        });
  }

  /** A server in this JVM that receives CloudEvents and counts them. */
  static Measured http() throws IOException {
    System.setProperty("sun.net.httpserver.nodelay", "true");
    AtomicLong arrived = new AtomicLong();
    ExecutorService threads = Executors.newCachedThreadPool();
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext(
        "/",
        exchange -> {
          try (exchange) {
            long ignored = exchange.getRequestBody().readAllBytes().length;
            boolean good = exchange.getRequestHeaders().getFirst("ce-id") != null;
            arrived.addAndGet(good ? 1 : 0);
            exchange.sendResponseHeaders(good ? NO_CONTENT : BAD_REQUEST, NO_BODY);
          }
        });
    server.start();
    String url = "http://127.0.0.1:" + server.getAddress().getPort();
    return new Measured(
        "HTTP",
        OptionalLong.empty(),
        HttpPublisher.builder().url(url).cloudEvents(SOURCE).build(),
        () -> client(URI.create(url)),
        () -> arrived.getAndSet(0),
        () -> {
          server.stop(0);
          threads.shutdownNow();
        });
  }

  private static Client client(URI url) {
    HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    return new Client(
        HttpPublisher.DEFAULT_MAX_IN_FLIGHT / 2, // there are two of these
        (message, answered) -> {
          HttpRequest.Builder request =
              HttpRequest.newBuilder(url)
                  .header("content-type", message.message().contentType())
                  .POST(BodyPublishers.ofByteArray(message.message().payload()));
          Attributes.forEachOfCloudEvent(
              message, SOURCE, (name, value) -> request.header("ce-" + name, value));
          Attributes.forEach(
              message,
              (name, value) ->
                  request.header(
                      name.equals("content-type") ? "outbox-content-type" : name, value));
          var unused =
              http.sendAsync(request.build(), BodyHandlers.discarding())
                  .whenComplete(
                      (answer, error) ->
                          answered.accept(error == null && answer.statusCode() == NO_CONTENT));
        });
  }

  private static String name(EmbeddedServer server) {
    return server.toString().replace("embedded ", "");
  }

  private static Measured orEnd(EmbeddedServer server, Callable<Measured> connecting)
      throws Exception {
    try {
      return connecting.call();
    } catch (Exception e) {
      try (server) {
        throw e;
      }
    }
  }

  @Override
  public void close() throws Exception {
    try (end) {
      publisher.close();
    }
  }
}
