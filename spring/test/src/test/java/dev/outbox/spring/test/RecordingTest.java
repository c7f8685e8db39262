package dev.outbox.spring.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.JoinedOutbox;
import dev.outbox.NoTransactionException;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spring.OutboxRelay;
import dev.outbox.spring.shop.Shop;
import dev.outbox.spring.shop.ShopApplication;
import dev.outbox.testing.RecordingOutbox;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionOperations;

/** A whole application with JPA on a real database that has none of the outbox's tables. */
@SpringBootTest(classes = ShopApplication.class, webEnvironment = WebEnvironment.NONE)
@AutoConfigureRecordingOutbox
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class RecordingTest extends Place {
  @Autowired private RecordingOutbox<?> outbox;
  @Autowired private Shop shop;
  @MockitoSpyBean private JoinedOutbox joined; // as tests have it that ask a mock
  @Autowired private TransactionOperations transaction;
  @Autowired private JdbcTemplate jdbc;
  @Autowired private ApplicationContext context;

  @Test
  @Order(1)
  void whatIsCommittedIsThere() {
    shop.place("order-1");
    shop.pay("order-1");
    assertThat(outbox).hasAppendedExactly("OrderPlaced", "OrderPaid");
    assertThat(outbox)
        .hasAppended("OrderPaid")
        .ofAggregate("order", "order-1")
        .withJson("{\"id\": \"order-1\"}");
  }

  /** The context is that of the test before. */
  @Test
  @Order(2)
  void itIsEmptyBeforeEachTest() {
    assertThat(jdbc.queryForObject("select count(*) from orders", Integer.class)).isEqualTo(1);
    assertThat(outbox).hasAppendedNothing();
  }

  @Test
  @Transactional
  void theTransactionOfATestSeesItsOwn() {
    shop.place("order-3");
    assertThat(outbox).hasAppended("OrderPlaced").once();
    assertThat(CompletableFuture.supplyAsync(outbox::messages).join()).isEmpty();
  }

  @Test
  void aCommitThatFailsLeavesNothing() {
    jdbc.execute(
        "create table line (order_id text references orders deferrable initially deferred)");
    assertThatThrownBy(
            () ->
                transaction.executeWithoutResult(
                    status -> {
                      shop.place("order-4");
                      jdbc.update("insert into line values ('another')");
                    }))
        .hasMessageContaining("line_order_id_fkey");
    assertThat(outbox).hasAppendedNothing();
  }

  @Test
  void itRefusesWhatTheRealOneRefuses() {
    assertThatThrownBy(() -> shop.placeWithoutTransaction("order-5"))
        .isInstanceOf(NoTransactionException.class)
        .hasMessageContaining("@Transactional");
    assertThatThrownBy(() -> shop.placeReadOnly("order-5"))
        .isInstanceOf(NoTransactionException.class);
    assertThat(outbox).hasAppendedNothing();
  }

  @Test
  void itFailsWhenToldTo() {
    outbox.failWith(new IllegalStateException("no disk"));
    assertThatThrownBy(() -> shop.place("order-6")).hasMessage("no disk");
    assertThat(jdbc.queryForList("select 1 from orders where id = 'order-6'")).isEmpty();
  }

  @Test
  void thereIsNoRelayNoPublisherAndNoTable() {
    assertThat(context.getBeanNamesForType(OutboxRelay.class)).isEmpty();
    assertThat(context.getBeanNamesForType(MessagePublisher.class)).isEmpty();
    assertThat(jdbc.queryForObject("select to_regclass('outbox_message')::text", String.class))
        .isNull();
    assertThat(joined).isNotNull();
  }
}
