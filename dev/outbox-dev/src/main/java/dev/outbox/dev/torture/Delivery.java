package dev.outbox.dev.torture;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;

/**
 * A record that the broker has.
 *
 * @param partition with its topic
 */
public record Delivery(String partition, long offset, UUID id, String key, int nth) {

  static Delivery of(ConsumerRecord<String, byte[]> record) {
    return new Delivery(
        record.topic() + "-" + record.partition(),
        record.offset(),
        id(record),
        record.key(),
        Work.nth(record.value()));
  }

  /** Nobody has appended one of zeros. */
  public static UUID id(ConsumerRecord<String, byte[]> record) {
    Header id = record.headers().lastHeader("outbox-id");
    return id == null ? new UUID(0, 0) : UUID.fromString(new String(id.value(), UTF_8));
  }
}
