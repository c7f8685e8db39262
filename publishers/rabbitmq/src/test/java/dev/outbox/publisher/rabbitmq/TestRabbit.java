package dev.outbox.publisher.rabbitmq;

import com.rabbitmq.client.BuiltinExchangeType;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import dev.outbox.Header;
import dev.outbox.embedded.EmbeddedRabbit;
import dev.outbox.embedded.TestServer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.opentest4j.TestAbortedException;

/** The broker that all tests of this module share; exchanges and queues are each test's own. */
final class TestRabbit {
  /** The largest payload; a body may have more. */
  static final int MAX_MESSAGE_SIZE = 1_000_000;

  private static final TestServer server =
      TestServer.rabbit(Map.of("max_message_size", Integer.toString(MAX_MESSAGE_SIZE)));

  private TestRabbit() {}

  static String uri() {
    return server.address();
  }

  /** The broker as one that can be stopped and told things. */
  static EmbeddedRabbit embedded() {
    return server
        .embedded()
        .map(EmbeddedRabbit.class::cast)
        .orElseThrow(
            () -> new TestAbortedException("skipped: only the embedded RabbitMQ can be stopped"));
  }

  /** As another user. */
  static String uri(String user, String password) {
    return uri().replaceFirst("//[^@]*@", "//" + user + ":" + password + "@");
  }

  static RabbitPublisher.Builder publisher() {
    return RabbitPublisher.builder().uri(uri());
  }

  interface Action<T> {
    T on(Channel channel) throws Exception;
  }

  /** Does something on a connection of its own. */
  static <T> T with(Action<T> action) {
    try {
      ConnectionFactory factory = new ConnectionFactory();
      factory.setUri(uri());
      factory.setAutomaticRecoveryEnabled(false);
      try (Connection connection = factory.newConnection("test")) {
        return action.on(connection.createChannel());
      }
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  static String name() {
    return "test-" + UUID.randomUUID();
  }

  /** A new exchange, and a queue of the same name that gets all of it. */
  static String exchange() {
    return exchange(Map.of());
  }

  static String exchange(Map<String, Object> queue) {
    String name = name();
    return with(
        channel -> {
          channel.exchangeDeclare(name, BuiltinExchangeType.TOPIC, true);
          channel.queueDeclare(name, true, false, false, queue);
          channel.queueBind(name, name, "#");
          return name;
        });
  }

  /** All that is in a queue, in its order; it stays there. */
  static List<GetResponse> read(String queue) {
    return with(
        channel -> {
          List<GetResponse> all = new ArrayList<>();
          for (GetResponse one = channel.basicGet(queue, false);
              one != null;
              one = channel.basicGet(queue, false)) {
            all.add(one);
          }
          return all;
        });
  }

  static String header(GetResponse message, String name) {
    Object value = message.getProps().getHeaders().get(name);
    return value == null ? null : value.toString();
  }

  /** The message's own headers, and the publisher's unless they are told apart. */
  static List<Header> headers(GetResponse message) {
    String all = header(message, Mapping.HEADERS);
    if (all != null) {
      return Header.fromJson(all);
    }
    List<Header> headers = new ArrayList<>();
    message.getProps().getHeaders().forEach((k, v) -> headers.add(new Header(k, v.toString())));
    return headers;
  }

  /** The sequences in a queue, in its order. */
  static List<Long> sequences(String queue) {
    return read(queue).stream().map(m -> Long.valueOf(header(m, "outbox-sequence"))).toList();
  }

  /** Of each key the sequences in the order of their first arrival. */
  static Map<String, List<Long>> firstArrivals(String queue) {
    Map<String, List<Long>> first = new LinkedHashMap<>();
    for (GetResponse message : read(queue)) {
      List<Long> ofKey =
          first.computeIfAbsent(header(message, Mapping.KEY), k -> new ArrayList<>());
      Long sequence = Long.valueOf(header(message, "outbox-sequence"));
      if (!ofKey.contains(sequence)) {
        ofKey.add(sequence);
      }
    }
    return first;
  }
}
