package dev.outbox.spring.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.spi.publisher.Result;
import dev.outbox.spring.OutboxRelay;
import dev.outbox.spring.shop.Shop;
import dev.outbox.spring.shop.ShopApplication;
import dev.outbox.testing.RecordingPublisher;
import dev.outbox.testing.RelayOnce;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;

/** A whole application on a real database, with a relay that runs when the test says so. */
@SpringBootTest(
    classes = ShopApplication.class,
    webEnvironment = WebEnvironment.NONE,
    properties = {"outbox.schema-mode=migrate", "outbox.relay.retry.max-attempts=1"})
@AutoConfigureOutbox
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class RelayOnceInContextTest extends Place {
  @Autowired private Shop shop;
  @Autowired private RelayOnce relay;
  @Autowired private RecordingPublisher publisher;
  @Autowired private ObjectProvider<OutboxRelay> running;

  @Test
  @Order(1)
  void deliversWhenItIsTold() {
    shop.place("order-1");
    shop.pay("order-1");
    assertThatThrownBy(() -> shop.placeAndFail("order-2")).hasMessage("out of stock");
    assertThat(publisher).hasDeliveredNothing();
    assertThat(relay.run().delivered()).hasSize(2);
    assertThat(publisher).hasDeliveredExactly("OrderPlaced", "OrderPaid");
    assertThat(running.getIfAvailable()).isNull();
  }

  @Test
  @Order(2)
  void thePublisherIsEmptyBeforeEachTest() {
    assertThat(publisher).hasDeliveredNothing();
    assertThat(relay.run().delivered()).isEmpty();
  }

  /** One attempt, as outbox.relay.retry.max-attempts says. */
  @Test
  @Order(3)
  void runsWithTheSettingsOfTheApplication() {
    publisher.answer(message -> Result.failed("no"));
    shop.place("order-3");
    assertThat(relay.run().dead()).hasSize(1);
  }
}
