package dev.outbox.example.boot;

import dev.outbox.JoinedOutbox;
import dev.outbox.OutboxMessage;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** The business. */
@Service
public class Orders {
  private final JdbcTemplate jdbc;
  private final JoinedOutbox outbox;

  Orders(JdbcTemplate jdbc, JoinedOutbox outbox) {
    this.jdbc = jdbc;
    this.outbox = outbox;
  }

  // tag::transactional
  @Transactional
  public void place(String id, String total) {
    jdbc.update("insert into orders (id, total) values (?, ?::numeric)", id, total);
    outbox.append(
        OutboxMessage.builder()
            .aggregate("order", id)
            .eventType("OrderPlaced")
            .payload("{\"total\": %s}".formatted(total))
            .build());
  }

  // end::transactional

  /** Places an order that comes to nothing, after its message was appended. */
  @Transactional
  public void placeAndFail(String id) {
    place(id, "1");
    throw new IllegalStateException("out of stock");
  }
}
