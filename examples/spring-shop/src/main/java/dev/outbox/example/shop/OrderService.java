package dev.outbox.example.shop;

import dev.outbox.JoinedOutbox;
import dev.outbox.example.shop.OrderEvent.OrderPaid;
import dev.outbox.example.shop.OrderEvent.OrderPlaced;
import dev.outbox.payload.OutboxEvents;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** The business. */
@Service
public class OrderService {
  private final Orders orders;
  private final JoinedOutbox outbox;
  private final OutboxEvents events;

  OrderService(Orders orders, JoinedOutbox outbox, OutboxEvents events) {
    this.orders = orders;
    this.outbox = outbox;
    this.events = events;
  }

  @Transactional
  public Order place(String customer, String article, int quantity) {
    Order order = orders.save(new Order(customer, article, quantity));
    outbox.append(events.message(new OrderPlaced(order.getId(), customer, article, quantity)));
    return order;
  }

  @Transactional
  public Order pay(String id) {
    Order order = orders.findById(id).orElseThrow();
    order.pay();
    outbox.append(events.message(new OrderPaid(id, order.getCustomer())));
    return order;
  }
}
