package dev.outbox.example.boot;

import dev.outbox.JoinedOutbox;
import dev.outbox.OutboxMessage;
import java.math.BigDecimal;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** The business. */
// tag::service
@Service
public class Orders {
  private final JdbcTemplate jdbc;
  private final JoinedOutbox outbox;

  Orders(JdbcTemplate jdbc, JoinedOutbox outbox) {
    this.jdbc = jdbc;
    this.outbox = outbox;
  }

  @Transactional
  public void place(String id, BigDecimal total) {
    jdbc.update("insert into orders (id, total) values (?, ?)", id, total);
    outbox.append(
        OutboxMessage.builder()
            .aggregate("order", id)
            .eventType("OrderPlaced")
            .payload("{\"total\": %s}".formatted(total))
            .build());
  }
}
// end::service
