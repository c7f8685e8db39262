package dev.outbox.spring.modulith.orders;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.event.EventListener;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.modulith.events.ApplicationModuleListener;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** The business. */
@Service
public class Orders {
  private final JdbcTemplate jdbc;
  private final ApplicationEventPublisher events;
  private final List<String> shipped = new CopyOnWriteArrayList<>();

  Orders(JdbcTemplate jdbc, ApplicationEventPublisher events) {
    this.jdbc = jdbc;
    this.events = events;
  }

  @Transactional
  public void place(String id) {
    jdbc.update("insert into orders (id) values (?)", id);
    events.publishEvent(
        new OrderPlaced(id, new BigDecimal("12.50"), Instant.parse("2026-01-02T03:04:05Z")));
  }

  @EventListener
  void confirm(OrderPlaced order) {
    events.publishEvent(new OrderConfirmed(order.orderId()));
  }

  @Transactional
  public void pay(String id) {
    events.publishEvent(new OrderPaid(id));
  }

  @ApplicationModuleListener
  void ship(OrderPaid order) {
    shipped.add(order.orderId());
  }

  /** Of {@link OrderPaid}, by the listener that Modulith's registry looks after. */
  public List<String> shipped() {
    return shipped;
  }

  @Transactional
  public void lose(String id) {
    jdbc.update("insert into orders (id) values (?)", id);
    events.publishEvent(new OrderLost(id));
  }
}
