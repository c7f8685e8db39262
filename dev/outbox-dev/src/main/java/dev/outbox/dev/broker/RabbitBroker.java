package dev.outbox.dev.broker;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.BuiltinExchangeType;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.Delivery;
import com.rabbitmq.client.ShutdownSignalException;
import dev.outbox.embedded.EmbeddedRabbit;
import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.rabbitmq.RabbitPublisher;
import dev.outbox.spi.publisher.MessagePublisher;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A RabbitMQ: an exchange for each topic with two quorum queues that get all of it. One is for the
 * consumers, of which a single one is active; the other one is the log, for who reads the whole. A
 * message's offset is its place in the outbox: queues give none.
 */
final class RabbitBroker extends Broker {
  private static final String LOG = ".log";
  private static final int CONNECT_MILLIS = 2_000;
  private static final int HEARTBEAT_SECONDS = 5;

  RabbitBroker(@Nullable String address, String name, List<String> types) {
    super(Kind.RABBITMQ, address, name, types);
  }

  @Override
  Started launch(int proxyPort) {
    EmbeddedRabbit started =
        EmbeddedRabbit.builder().setting("max_message_size", "" + MOST_BYTES).start();
    return new Started(started, started.uri());
  }

  @Override
  public String needs() {
    return "the package rabbitmq-server, or name its sbin folder in the variable OUTBOX_EMBEDDED_RABBITMQ";
  }

  /** Connections end when something is wrong with them. */
  private Connection connect() throws IOException, TimeoutException {
    ConnectionFactory factory = new ConnectionFactory();
    try {
      factory.setUri(address());
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    factory.setAutomaticRecoveryEnabled(false);
    factory.setConnectionTimeout(CONNECT_MILLIS);
    factory.setRequestedHeartbeat(HEARTBEAT_SECONDS);
    return factory.newConnection();
  }

  @Override
  public void createTopics() {
    Map<String, Object> quorum = Map.of("x-queue-type", "quorum");
    Map<String, Object> oneByOne =
        Map.of("x-queue-type", "quorum", "x-single-active-consumer", true);
    tried(
        "the queues could not be made",
        () -> {
          try (Connection connection = connect();
              Channel channel = connection.createChannel()) {
            for (String topic : topics()) {
              channel.exchangeDeclare(topic, BuiltinExchangeType.FANOUT, true);
              channel.queueDeclare(topic, true, false, false, oneByOne);
              channel.queueDeclare(topic + LOG, true, false, false, quorum);
              channel.queueBind(topic, topic, "");
              channel.queueBind(topic + LOG, topic, "");
            }
          }
          return null;
        });
  }

  @Override
  public Map<String, String> relayProperties() {
    return Map.of("publisher", "rabbitmq", "rabbitmq.uri", address());
  }

  @Override
  public MessagePublisher publisher(@Nullable Duration timeout) {
    RabbitPublisher.Builder publisher =
        RabbitPublisher.builder().uri(address()).destination(Destination.pattern(destination()));
    return (timeout == null ? publisher : publisher.timeout(timeout)).build();
  }

  @Override
  public Source source(Source.Reading reading) {
    return new Queues(
        topics().stream()
            .map(topic -> reading == Source.Reading.WHOLE ? topic + LOG : topic)
            .toList());
  }

  /**
   * Consumes the queues, and acknowledges what the sink was told. What it could not acknowledge
   * before an outage it gets again, which are duplicates.
   */
  private final class Queues implements Source {
    private static final int PREFETCH = 200;
    private static final int POLL_MILLIS = 100;
    private static final int CONFIRM_MILLIS = 10_000;

    private final List<String> queues;
    private final Set<String> marks = new HashSet<>();
    private BlockingQueue<Delivery> received = new LinkedBlockingQueue<>();
    private @Nullable Channel channel;

    Queues(List<String> queues) {
      this.queues = queues;
    }

    @Override
    public void poll(Source.Sink sink) throws InterruptedException {
      try {
        Channel open = channel();
        Delivery first = received.poll(POLL_MILLIS, TimeUnit.MILLISECONDS);
        if (first == null) {
          return;
        }
        List<Delivery> all = new ArrayList<>(List.of(first));
        received.drainTo(all);
        all.forEach(one -> tell(one, sink));
        sink.complete();
        open.basicAck(all.get(all.size() - 1).getEnvelope().getDeliveryTag(), true);
      } catch (IOException | TimeoutException | ShutdownSignalException e) {
        close(); // the broker is away
        Thread.sleep(POLL_MILLIS);
      }
    }

    private void tell(Delivery message, Source.Sink sink) {
      BasicProperties properties = message.getProperties();
      if (!marks.remove(properties.getMessageId())) {
        sink.received(
            new Source.Received(
                message.getEnvelope().getExchange(),
                Long.parseLong(header(properties, "outbox-sequence", "-1")),
                Source.Received.id(header(properties, "outbox-id", null)),
                String.valueOf(header(properties, "outbox-key", "")),
                message.getBody()));
      }
    }

    private static @Nullable String header(
        BasicProperties properties, String name, @Nullable String otherwise) {
      Map<String, Object> headers = properties.getHeaders();
      Object value = headers == null ? null : headers.get(name);
      return value == null ? otherwise : value.toString();
    }

    private Channel channel() throws IOException, TimeoutException {
      Channel open = channel;
      if (open == null || !open.isOpen()) {
        close();
        BlockingQueue<Delivery> mine = new LinkedBlockingQueue<>();
        open = opened(connect());
        channel = open;
        open.basicQos(PREFETCH);
        for (String queue : queues) {
          String unused = open.basicConsume(queue, false, (tag, one) -> mine.add(one), gone -> {});
        }
        received = mine; // not what came before: it comes again
      }
      return open;
    }

    private static Channel opened(Connection connection) throws IOException {
      try {
        Channel channel = connection.createChannel();
        channel.confirmSelect(); // for the marks
        return channel;
      } catch (IOException | RuntimeException e) {
        connection.abort(POLL_MILLIS);
        throw e;
      }
    }

    /** A mark comes behind all that is in a queue. */
    @Override
    public BooleanSupplier end() {
      return tried(
          "the queues' ends could not be marked",
          () -> {
            Channel open = channel();
            for (String queue : queues) {
              String mark = UUID.randomUUID().toString();
              marks.add(mark);
              open.basicPublish(
                  "", queue, new BasicProperties.Builder().messageId(mark).build(), new byte[0]);
            }
            open.waitForConfirmsOrDie(CONFIRM_MILLIS);
            return marks::isEmpty;
          });
    }

    @Override
    public void close() {
      if (channel != null) {
        channel.getConnection().abort(POLL_MILLIS);
        channel = null;
      }
    }
  }
}
