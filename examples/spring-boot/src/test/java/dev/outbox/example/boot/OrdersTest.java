package dev.outbox.example.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spring.test.AutoConfigureRecordingOutbox;
import dev.outbox.testing.RecordingOutbox;
import java.math.BigDecimal;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.autoconfigure.jdbc.AutoConfigureTestDatabase;
import org.springframework.boot.test.autoconfigure.jdbc.AutoConfigureTestDatabase.Replace;
import org.springframework.boot.test.autoconfigure.jdbc.JdbcTest;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.jdbc.Sql;

/** What is appended, without the outbox's tables and without a broker. */
@ContextConfiguration(initializers = OnPostgres.class)
@Sql(statements = "create table orders (id text primary key, total numeric not null)")
// tag::recording
@JdbcTest
@AutoConfigureTestDatabase(replace = Replace.NONE)
@AutoConfigureRecordingOutbox
@Import(Orders.class)
class OrdersTest {
  @Autowired private Orders orders;
  @Autowired private RecordingOutbox<?> outbox;

  @Test
  void whoPlacesAnOrderSaysSo() {
    orders.place("order-1", new BigDecimal("12.50"));

    assertThat(outbox)
        .hasAppended("OrderPlaced")
        .ofAggregate("order", "order-1")
        .withJson("{\"total\": 12.50}")
        .once();
  }
}
// end::recording
