package dev.outbox.publisher.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.embedded.EmbeddedServer;
import dev.outbox.embedded.EmbeddedTck;
import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.tck.publisher.PublisherTck;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** The TCK on a real broker. */
class KafkaTckTest extends EmbeddedTck
    implements PublisherTck.BrokerRejects, PublisherTck.DestinationMissing {
  private String topic;
  private String small;

  @Override
  protected EmbeddedServer server() {
    return TestKafka.embedded();
  }

  @Override
  protected MessagePublisher createPublisher() {
    return TestKafka.publisher()
        .timeout(timeout())
        .destination(Destination.by(message -> destination(message, topic)))
        .build();
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
    return withAttributes(
        Received.of(new String(record.key(), UTF_8), record.value(), headers),
        name -> TestKafka.header(record, name));
  }

  /** Larger than its topic allows: the client lets it pass, the broker refuses it. */
  @Override
  public OutboxMessage.Builder rejected(OutboxMessage.Builder message) {
    return to(small, message).payload(new byte[5_000]);
  }

  @Override
  public OutboxMessage.Builder toMissing(OutboxMessage.Builder message) {
    return to(topic + "-missing", message);
  }
}
