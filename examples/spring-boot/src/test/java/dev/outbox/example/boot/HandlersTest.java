package dev.outbox.example.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spring.OutboxHandler;
import java.math.BigDecimal;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.jdbc.Sql;

/** The message of an order goes to a method, and needs no broker. */
@ContextConfiguration(initializers = OnPostgres.class)
@DirtiesContext // so that its relay ends before the database
@SpringBootTest(webEnvironment = WebEnvironment.NONE)
@Sql(statements = "create table orders (id text primary key, total numeric not null)")
@Sql(statements = "drop table orders", executionPhase = Sql.ExecutionPhase.AFTER_TEST_METHOD)
class HandlersTest {
  private static final BlockingQueue<String> CONFIRMED = new LinkedBlockingQueue<>();

  @Autowired private Orders orders;

  @TestConfiguration(proxyBeanMethods = false)
  static class Confirmations {
    @OutboxHandler("OrderPlaced")
    public void send(OutboxMessage message) {
      confirm(message.aggregateId(), message.payloadAsString());
    }

    private static void confirm(String order, String placed) {
      CONFIRMED.add(order + " " + placed);
    }
  }

  @Test
  void theMethodHasTheMessageAfterTheCommit() throws InterruptedException {
    orders.place("order-1", new BigDecimal("12.50"));
    assertThat(CONFIRMED.poll(2, TimeUnit.MINUTES)).isEqualTo("order-1 {\"total\": 12.50}");
  }
}
