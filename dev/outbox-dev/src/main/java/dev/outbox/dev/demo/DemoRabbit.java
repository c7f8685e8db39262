package dev.outbox.dev.demo;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.BuiltinExchangeType;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.Delivery;
import com.rabbitmq.client.ShutdownSignalException;
import dev.outbox.cli.Failure;
import dev.outbox.dev.RabbitClient;
import dev.outbox.embedded.EmbeddedRabbit;
import java.io.IOException;
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

/** A RabbitMQ with an exchange for each type, and two quorum queues that get all of it. */
final class DemoRabbit extends EmbeddedBroker<EmbeddedRabbit> {
  private static final String SHIPPING = ".shipping";

  private final String prefix;

  DemoRabbit(String name) {
    super("RabbitMQ");
    this.prefix = name + ".";
  }

  @Override
  public void start() {
    start(
        EmbeddedRabbit::start,
        "the package rabbitmq-server, or name its sbin folder in the variable OUTBOX_EMBEDDED_RABBITMQ");
    try (Connection connection = factory().newConnection();
        Channel channel = connection.createChannel()) {
      for (String queue : queues()) {
        channel.exchangeDeclare(queue, BuiltinExchangeType.FANOUT, true);
        for (String each : List.of(queue, queue + SHIPPING)) {
          channel.queueDeclare(each, true, false, false, RabbitClient.QUORUM);
          channel.queueBind(each, queue, "");
        }
      }
    } catch (IOException | TimeoutException e) {
      throw failure("the queues could not be made", e);
    }
  }

  /** What the broker said is the cause. */
  private static Failure failure(String problem, Exception e) {
    Throwable cause = e.getCause() != null ? e.getCause() : e;
    return new Failure(problem + ": " + cause.getMessage(), e);
  }

  private ConnectionFactory factory() {
    return RabbitClient.factory(running().uri());
  }

  private List<String> queues() {
    return queues(prefix, "");
  }

  private static List<String> queues(String prefix, String suffix) {
    return Customers.TYPES.stream().map(type -> prefix + type + suffix).toList();
  }

  @Override
  public String address() {
    return "127.0.0.1:" + running().port();
  }

  @Override
  public Map<String, String> relayProperties() {
    return Map.of(
        "publisher",
        "rabbitmq",
        "rabbitmq.uri",
        running().uri(),
        "destination",
        prefix + "{aggregateType}");
  }

  @Override
  public List<String> waysToLook() {
    return List.of(
        "%s has the exchanges and queues %s; the demo has consumed what was in them"
            .formatted(running().uri(), String.join(", ", queues())));
  }

  @Override
  public Source source() {
    return new Queues(factory(), queues());
  }

  @Override
  public Place place() {
    return new Place(running().uri(), prefix);
  }

  static Source source(Place place) {
    return new Queues(RabbitClient.factory(place.address()), queues(place.name(), SHIPPING));
  }

  /**
   * Consumes the queues, and acknowledges what the sink was told. What it could not acknowledge
   * before an outage it gets again, which the table counts as duplicates.
   */
  private static final class Queues implements Source {
    private static final int PREFETCH = 500;
    private static final int POLL_MILLIS = 100;
    private static final int CONFIRM_MILLIS = 10_000;

    private final ConnectionFactory factory;
    private final List<String> queues;
    private final Set<String> marks = new HashSet<>();
    private BlockingQueue<Delivery> received = new LinkedBlockingQueue<>();
    private @Nullable Channel channel;

    Queues(ConnectionFactory factory, List<String> queues) {
      this.factory = factory;
      this.queues = queues;
    }

    @Override
    public void poll(Sink sink) throws InterruptedException {
      try {
        Channel open = channel();
        Delivery first = received.poll(POLL_MILLIS, TimeUnit.MILLISECONDS);
        if (first == null) {
          return;
        }
        List<Delivery> all = new ArrayList<>(List.of(first));
        received.drainTo(all);
        all.forEach(one -> tell(one.getProperties(), sink));
        sink.complete();
        open.basicAck(all.get(all.size() - 1).getEnvelope().getDeliveryTag(), true);
      } catch (IOException | TimeoutException | ShutdownSignalException e) {
        close(); // the broker is away
        Thread.sleep(POLL_MILLIS);
      }
    }

    private void tell(BasicProperties properties, Sink sink) {
      if (!marks.remove(properties.getMessageId())) {
        sink.received(RabbitClient.id(properties), RabbitClient.key(properties));
      }
    }

    private Channel channel() throws IOException, TimeoutException {
      Channel open = channel;
      if (open == null || !open.isOpen()) {
        close();
        BlockingQueue<Delivery> mine = new LinkedBlockingQueue<>();
        open = opened(factory.newConnection("demo"));
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
      try {
        Channel open = channel();
        for (String queue : queues) {
          String mark = UUID.randomUUID().toString();
          marks.add(mark);
          open.basicPublish(
              "", queue, new BasicProperties.Builder().messageId(mark).build(), new byte[0]);
        }
        open.waitForConfirmsOrDie(CONFIRM_MILLIS);
        return marks::isEmpty;
      } catch (IOException | TimeoutException | ShutdownSignalException e) {
        throw failure("the queues' ends could not be marked", e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw failure("the queues' ends could not be marked", e);
      }
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
