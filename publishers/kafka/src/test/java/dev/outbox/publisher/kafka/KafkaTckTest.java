package dev.outbox.publisher.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.publisher.PublisherTck;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** The TCK on a real broker. */
class KafkaTckTest extends PublisherTck
    implements PublisherTck.BrokerCrashes,
        PublisherTck.BrokerHangs,
        PublisherTck.BrokerRejects,
        PublisherTck.DestinationMissing {
  private static final String GOES_TO = "test-goes-to";

  private String topic;
  private String small;

  @Override
  protected MessagePublisher createPublisher() {
    return TestKafka.publisher()
        .timeout(timeout())
        .destination(Destination.by(this::topicOf))
        .build();
  }

  private String topicOf(StoredMessage message) {
    return message.message().headers().stream()
        .filter(h -> h.name().equals(GOES_TO))
        .map(Header::value)
        .findFirst()
        .orElse(topic);
  }

  @Override
  protected Duration timeout() {
    return Duration.ofSeconds(12);
  }

  @Override
  protected void reset() {
    topic = TestKafka.topic(Map.of());
    small = TestKafka.topic(Map.of("max.message.bytes", "2000"));
  }

  @Override
  protected List<Received> received() {
    return TestKafka.read(List.of(topic, small)).stream().map(KafkaTckTest::received).toList();
  }

  private static Received received(ConsumerRecord<byte[], byte[]> record) {
    List<Header> headers = new ArrayList<>();
    record.headers().forEach(h -> headers.add(new Header(h.key(), new String(h.value(), UTF_8))));
    Received received = Received.of(new String(record.key(), UTF_8), record.value(), headers);
    for (Attribute attribute : Attribute.values()) {
      String name = attribute.name().toLowerCase(Locale.ROOT).replace('_', '-');
      String header = attribute == Attribute.CONTENT_TYPE ? name : "outbox-" + name;
      received = received.with(attribute, TestKafka.header(record, header));
    }
    return received;
  }

  @Override
  public void stopBroker() {
    TestKafka.embedded().stop();
  }

  @Override
  public void killBroker() {
    TestKafka.embedded().kill();
  }

  @Override
  public void startBroker() {
    TestKafka.embedded().restart();
  }

  @Override
  public void pauseBroker() {
    TestKafka.embedded().pause();
  }

  @Override
  public void resumeBroker() {
    TestKafka.embedded().resume();
  }

  /** Larger than its topic allows: the client lets it pass, the broker refuses it. */
  @Override
  public OutboxMessage.Builder rejected(OutboxMessage.Builder message) {
    return message.header(GOES_TO, small).payload(new byte[5_000]);
  }

  @Override
  public OutboxMessage.Builder toMissing(OutboxMessage.Builder message) {
    return message.header(GOES_TO, topic + "-missing");
  }
}
