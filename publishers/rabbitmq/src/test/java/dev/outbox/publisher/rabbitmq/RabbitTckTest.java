package dev.outbox.publisher.rabbitmq;

import com.rabbitmq.client.GetResponse;
import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.PublisherTck;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** The TCK on a real broker. */
class RabbitTckTest extends PublisherTck
    implements PublisherTck.BrokerCrashes,
        PublisherTck.BrokerHangs,
        PublisherTck.BrokerRejects,
        PublisherTck.DestinationMissing,
        PublisherTck.DestinationNotDurable,
        PublisherTck.DestinationHangs {
  private static final String GOES_TO = "test-goes-to";

  private String exchange;
  private SuspendedQueue suspended;

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
    return message.message().headers().contains(new Header(GOES_TO, where));
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
    Received received =
        Received.of(
            TestRabbit.header(message, Mapping.KEY),
            message.getBody(),
            TestRabbit.headers(message));
    for (Attribute attribute : Attribute.values()) {
      String name = attribute.name().toLowerCase(Locale.ROOT).replace('_', '-');
      String header = attribute == Attribute.CONTENT_TYPE ? name : "outbox-" + name;
      received = received.with(attribute, TestRabbit.header(message, header));
    }
    return received;
  }

  @Override
  public void stopBroker() {
    TestRabbit.embedded().stop();
  }

  @Override
  public void killBroker() {
    TestRabbit.embedded().kill();
  }

  @Override
  public void startBroker() {
    TestRabbit.embedded().restart();
  }

  @Override
  public void pauseBroker() {
    TestRabbit.embedded().pause();
  }

  @Override
  public void resumeBroker() {
    TestRabbit.embedded().resume();
  }

  /** Larger than the broker allows: it closes the channel. */
  @Override
  public OutboxMessage.Builder rejected(OutboxMessage.Builder message) {
    return message.header(GOES_TO, "large");
  }

  @Override
  public OutboxMessage.Builder toMissing(OutboxMessage.Builder message) {
    return message.header(GOES_TO, "missing");
  }

  /** A queue that stands still: the broker takes what goes there and confirms nothing. */
  @Override
  public OutboxMessage.Builder toNotDurable(OutboxMessage.Builder message) {
    return toHanging(message);
  }

  @Override
  public OutboxMessage.Builder toHanging(OutboxMessage.Builder message) {
    suspended = suspended == null ? SuspendedQueue.make() : suspended;
    return message.header(GOES_TO, "stuck");
  }
}
