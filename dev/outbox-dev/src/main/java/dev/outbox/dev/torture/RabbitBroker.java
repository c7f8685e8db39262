package dev.outbox.dev.torture;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.BuiltinExchangeType;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.ShutdownSignalException;
import dev.outbox.dev.RabbitClient;
import dev.outbox.embedded.EmbeddedRabbit;
import dev.outbox.publisher.rabbitmq.RabbitPublisher;
import dev.outbox.spi.publisher.MessagePublisher;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * A RabbitMQ: an exchange for each topic with two quorum queues that get all of it. One is for the
 * consumers, of which a single one is active; the other one is the log, which nobody reads before
 * the end. A message's offset is its place in the outbox: queues give none.
 */
final class RabbitBroker implements Broker {
  private static final String LOG = ".log";
  private static final int PREFETCH = 100;
  private static final int PAUSE_MILLIS = 200;

  private final String uri;

  RabbitBroker(String uri) {
    this.uri = uri;
  }

  static Started start(TcpProxy proxy) {
    EmbeddedRabbit rabbit =
        EmbeddedRabbit.builder().setting("max_message_size", "" + Work.MOST_BYTES).start();
    proxy.target(rabbit.port());
    return new Started(rabbit, rabbit.uri().replaceFirst(":\\d+$", ":" + proxy.port()));
  }

  @Override
  public void createTopics() throws IOException, TimeoutException {
    Map<String, Object> oneByOne = new HashMap<>(RabbitClient.QUORUM);
    oneByOne.put("x-single-active-consumer", true);
    try (Connection connection = RabbitClient.factory(uri).newConnection();
        Channel channel = connection.createChannel()) {
      for (String topic : Broker.topics()) {
        channel.exchangeDeclare(topic, BuiltinExchangeType.FANOUT, true);
        channel.queueDeclare(topic, true, false, false, oneByOne);
        channel.queueDeclare(topic + LOG, true, false, false, RabbitClient.QUORUM);
        channel.queueBind(topic, topic, "");
        channel.queueBind(topic + LOG, topic, "");
      }
    }
  }

  @Override
  public MessagePublisher publisher(Duration timeout) {
    return RabbitPublisher.builder().uri(uri).timeout(timeout).build();
  }

  @Override
  public void consume(BooleanSupplier ending, Consumer<Delivery> got) throws InterruptedException {
    while (!ending.getAsBoolean()) {
      try {
        Connection connection = RabbitClient.factory(uri).newConnection();
        try {
          consume(connection, ending, got);
        } finally {
          connection.abort(PAUSE_MILLIS);
        }
      } catch (IOException | TimeoutException | ShutdownSignalException e) {
        System.err.println("once more, after " + e);
        Thread.sleep(PAUSE_MILLIS);
      }
    }
  }

  /** Until it is ending, or the connection or a queue is gone. */
  private static void consume(Connection connection, BooleanSupplier ending, Consumer<Delivery> got)
      throws IOException, InterruptedException {
    CountDownLatch over = new CountDownLatch(1);
    connection.addShutdownListener(cause -> over.countDown());
    Channel channel = connection.createChannel();
    channel.addShutdownListener(cause -> over.countDown());
    channel.basicQos(PREFETCH);
    for (String topic : Broker.topics()) {
      String unused =
          channel.basicConsume(
              topic,
              false,
              (tag, one) -> {
                got.accept(delivery(topic, one.getProperties(), one.getBody()));
                channel.basicAck(one.getEnvelope().getDeliveryTag(), false);
              },
              tag -> over.countDown());
    }
    while (!ending.getAsBoolean() && !over.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS)) {}
  }

  private static Delivery delivery(String topic, BasicProperties properties, byte[] body) {
    return new Delivery(
        topic,
        RabbitClient.sequence(properties),
        RabbitClient.id(properties),
        RabbitClient.key(properties),
        Work.nth(body));
  }

  @Override
  public List<Delivery> readLog() throws IOException, TimeoutException {
    List<Delivery> log = new ArrayList<>();
    try (Connection connection = RabbitClient.factory(uri).newConnection();
        Channel channel = connection.createChannel()) {
      for (String topic : Broker.topics()) {
        GetResponse next = channel.basicGet(topic + LOG, true);
        while (next != null) {
          log.add(delivery(topic, next.getProps(), next.getBody()));
          next = channel.basicGet(topic + LOG, true);
        }
      }
    }
    return log;
  }
}
