package dev.outbox.dev.bench;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.MessageProperties;
import dev.outbox.embedded.EmbeddedRabbit;
import dev.outbox.publisher.core.Attributes;
import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.rabbitmq.RabbitPublisher;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import java.io.IOException;
import java.util.Date;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** RabbitMQ, with one durable queue. */
final class RabbitMeasured implements Measured {
  private static final String QUEUE = "bench";

  private final EmbeddedRabbit server = EmbeddedRabbit.builder().start();
  private @Nullable Connection connection;
  private long purged;

  @Override
  public String toString() {
    return server.toString().replace("embedded ", "");
  }

  @Override
  public OptionalLong pid() {
    return OptionalLong.of(server.pid());
  }

  @Override
  public MessagePublisher publisher() {
    return RabbitPublisher.builder()
        .uri(server.uri())
        .destination(Destination.pattern("amq.default"))
        .routingKey(Destination.pattern(QUEUE))
        .build();
  }

  private Channel channel() throws Exception {
    if (connection == null) {
      ConnectionFactory factory = new ConnectionFactory();
      factory.setUri(server.uri());
      factory.setAutomaticRecoveryEnabled(false);
      connection = factory.newConnection();
    }
    return connection.createChannel();
  }

  @Override
  public Client client() throws Exception {
    return new Confirmed(channel());
  }

  /** Empties the queue, so that it is as long for each. */
  @Override
  public long arrived() throws Exception {
    try (Channel channel = channel()) {
      String queue = channel.queueDeclare(QUEUE, true, false, false, Map.of()).getQueue();
      purged += channel.queuePurge(queue).getMessageCount();
      return purged;
    }
  }

  @Override
  public void close() {
    try (server) {
      if (connection != null) {
        connection.abort();
      }
    }
  }

  private static final class Confirmed implements Client {
    private final Channel channel;
    private final ConcurrentNavigableMap<Long, Consumer<Boolean>> unconfirmed =
        new ConcurrentSkipListMap<>();

    private Confirmed(Channel channel) throws IOException {
      this.channel = channel;
      channel.confirmSelect();
      channel.addConfirmListener(
          (tag, multiple) -> answer(tag, multiple, true),
          (tag, multiple) -> answer(tag, multiple, false));
    }

    private void answer(long tag, boolean multiple, boolean taken) {
      Map<Long, Consumer<Boolean>> ended =
          multiple ? unconfirmed.headMap(tag, true) : unconfirmed.subMap(tag, tag + 1);
      ended.values().forEach(answered -> answered.accept(taken));
      ended.clear();
    }

    @Override
    public int mostAtOnce() {
      return Integer.MAX_VALUE;
    }

    @Override
    public void send(StoredMessage message, Consumer<Boolean> answered) throws IOException {
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
      channel.basicPublish("", QUEUE, true, properties, message.message().payload());
    }
  }
}
