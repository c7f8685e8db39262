package dev.outbox.example.shop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.spring.test.AutoConfigureOutbox;
import dev.outbox.testing.RecordingPublisher;
import dev.outbox.testing.RelayOnce;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;

/** The whole application and its tables, without Kafka. */
@SpringBootTest(
    webEnvironment = WebEnvironment.NONE,
    properties = {
      "spring.kafka.bootstrap-servers=nowhere.invalid:9092",
      "spring.kafka.listener.auto-startup=false",
      "spring.kafka.admin.auto-create=false"
    })
@AutoConfigureOutbox
class WarehouseTest {
  @Autowired private OrderService service;
  @Autowired private RelayOnce relay;
  @Autowired private RecordingPublisher publisher;
  @Autowired private Warehouse warehouse;

  @Test
  void anOrderThatComesTwiceIsHandledOnce() {
    Order order = service.place("ada@example.org", "tea", 2);
    relay.run();
    assertThat(publisher).hasDelivered("OrderPlaced").withKey("order/" + order.getId()).once();

    warehouse.handle(record(publisher.delivered().get(0)));
    warehouse.handle(record(publisher.delivered().get(0)));
    assertThat(warehouse.mails(order.getId())).containsExactly("We have your order");
  }

  @Test
  void whatItDoesNotKnowIsLeftAlone() {
    Order order = service.place("ada@example.org", "tea", 2);
    relay.run();
    StoredMessage placed = publisher.delivered().get(0);
    OutboxMessage other =
        placed.message().toBuilder().eventType("OrderForgotten").payload("?").build();
    warehouse.handle(record(StoredMessage.of(1, 0, placed.createdAt(), other)));
    assertThat(warehouse.mails(order.getId())).isEmpty();
  }

  /** As the publisher of Kafka makes it. */
  private static ConsumerRecord<String, byte[]> record(StoredMessage stored) {
    OutboxMessage message = stored.message();
    ConsumerRecord<String, byte[]> record =
        new ConsumerRecord<>("order", 0, 0, message.recordKey(), message.payload());
    record.headers().add("outbox-id", message.id().toString().getBytes(UTF_8));
    record.headers().add("outbox-event-type", message.eventType().getBytes(UTF_8));
    return record;
  }
}
