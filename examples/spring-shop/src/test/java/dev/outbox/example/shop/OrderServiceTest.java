package dev.outbox.example.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.spring.test.AutoConfigureRecordingOutbox;
import dev.outbox.testing.RecordingOutbox;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.data.jpa.test.autoconfigure.DataJpaTest;
import org.springframework.boot.jdbc.test.autoconfigure.AutoConfigureTestDatabase;
import org.springframework.boot.jdbc.test.autoconfigure.AutoConfigureTestDatabase.Replace;
import org.springframework.context.annotation.Import;

/** What is appended, without the outbox's tables and without Kafka. */
@DataJpaTest
@AutoConfigureTestDatabase(replace = Replace.NONE)
@AutoConfigureRecordingOutbox
@Import(OrderService.class)
class OrderServiceTest {
  @Autowired private OrderService service;
  @Autowired private RecordingOutbox<?> outbox;

  @Test
  void whoPlacesAnOrderSaysSo() {
    Order order = service.place("ada@example.org", "tea", 2);

    assertThat(outbox)
        .hasAppended("OrderPlaced")
        .ofAggregate("order", order.getId())
        .withJson(
            """
            {"orderId": "%s", "customer": "ada@example.org", "article": "tea", "quantity": 2}
            """
                .formatted(order.getId()))
        .once();
  }

  @Test
  void whoPaysTwiceSaysSoOnce() {
    Order order = service.place("ada@example.org", "tea", 2);
    service.pay(order.getId());
    assertThatThrownBy(() -> service.pay(order.getId())).hasMessageContaining("PAID already");
    assertThat(outbox).hasAppendedExactly("OrderPlaced", "OrderPaid");
  }
}
