package dev.outbox.spring.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spring.shop.Shop;
import dev.outbox.testing.RecordingOutbox;
import java.math.BigDecimal;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.transaction.TestTransaction;
import org.springframework.transaction.annotation.Transactional;

/** {@code @DataJpaTest} puts a transaction around each test method and rolls it back. */
@Import(Shop.class)
@Transactional // said again: that of the slice is for the methods of its own class
abstract class DataJpaSlice extends Place {
  @Autowired private RecordingOutbox<?> outbox;
  @Autowired private Shop shop;
  @Autowired private ApplicationEventPublisher events;

  /** Twice, so that one test finds nothing of the other. */
  @RepeatedTest(2)
  void theTestSeesWhatItsTransactionAppended() {
    shop.place("order-1");
    assertThat(outbox).hasAppendedExactly("OrderPlaced");
    TestTransaction.end();
    assertThat(outbox).hasAppendedNothing();
  }

  @Test
  void theTestSeesTheEventsOfTheApplication() {
    events.publishEvent(new OrderPlaced("order-3", new BigDecimal("12.50")));
    assertThat(outbox)
        .hasAppended("OrderPlaced")
        .withJson("{\"id\": \"order-3\", \"total\": 12.5}");
  }

  @Test
  void theTestMayCommit() {
    shop.place("order-2");
    TestTransaction.flagForCommit();
    TestTransaction.end();
    assertThat(outbox).hasAppended("OrderPlaced").ofAggregate("order", "order-2");
  }
}
