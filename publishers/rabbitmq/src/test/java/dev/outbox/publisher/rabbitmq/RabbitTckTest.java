package dev.outbox.publisher.rabbitmq;

import com.rabbitmq.client.GetResponse;
import dev.outbox.OutboxMessage;
import dev.outbox.embedded.EmbeddedServer;
import dev.outbox.embedded.EmbeddedTck;
import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.publisher.PublisherTck;
import java.time.Duration;
import java.util.List;

/** The TCK on a real broker. */
class RabbitTckTest extends EmbeddedTck
    implements PublisherTck.BrokerRejects,
        PublisherTck.DestinationMissing,
        PublisherTck.DestinationNotDurable,
        PublisherTck.DestinationHangs {
  private String exchange;
  private SuspendedQueue suspended;

  @Override
  protected EmbeddedServer server() {
    return TestRabbit.embedded();
  }

  @Override
  protected MessagePublisher createPublisher() {
    return TestRabbit.publisher()
        .timeout(timeout())
        .destination(Destination.by(this::exchangeOf))
        .routingKey(Destination.by(m -> is(m, "stuck") ? suspended.name() : "key"))
        .body(m -> is(m, "large") ? new byte[TestRabbit.MAX_MESSAGE_SIZE + 1] : payload(m))
        .build();
  }

  private String exchangeOf(StoredMessage message) {
    if (is(message, "stuck")) {
      return Mapping.DEFAULT_EXCHANGE;
    }
    return is(message, "missing") ? exchange + "-missing" : exchange;
  }

  private static byte[] payload(StoredMessage message) {
    return message.message().payload();
  }

  private static boolean is(StoredMessage message, String where) {
    return destination(message, "").equals(where);
  }

  @Override
  protected Duration timeout() {
    return Duration.ofSeconds(12);
  }

  @Override
  protected void reset() {
    if (suspended != null) {
      suspended.close();
      suspended = null;
    }
    exchange = TestRabbit.exchange();
  }

  @Override
  protected List<Received> received() {
    return TestRabbit.read(exchange).stream().map(RabbitTckTest::received).toList();
  }

  private static Received received(GetResponse message) {
    return withAttributes(
        Received.of(
            TestRabbit.header(message, Mapping.KEY),
            message.getBody(),
            TestRabbit.headers(message)),
        name -> TestRabbit.header(message, name));
  }

  /** Larger than the broker allows: it closes the channel. */
  @Override
  public OutboxMessage.Builder rejected(OutboxMessage.Builder message) {
    return to("large", message);
  }

  @Override
  public OutboxMessage.Builder toMissing(OutboxMessage.Builder message) {
    return to("missing", message);
  }

  /** A queue that stands still: the broker takes what goes there and confirms nothing. */
  @Override
  public OutboxMessage.Builder toNotDurable(OutboxMessage.Builder message) {
    return toHanging(message);
  }

  @Override
  public OutboxMessage.Builder toHanging(OutboxMessage.Builder message) {
    suspended = suspended == null ? SuspendedQueue.make() : suspended;
    return to("stuck", message);
  }
}
