package dev.outbox.spring.shop;

import dev.outbox.JoinedOutbox;
import dev.outbox.OutboxMessage;
import jakarta.persistence.EntityManager;
import jakarta.persistence.PersistenceContext;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** The business. */
@Service
public class Shop {
  private final JoinedOutbox outbox;
  @PersistenceContext private EntityManager entities;

  Shop(JoinedOutbox outbox) {
    this.outbox = outbox;
  }

  @Transactional
  public void place(String id) {
    entities.persist(new Order(id));
    append(id, "OrderPlaced");
  }

  @Transactional
  public void pay(String id) {
    entities.find(Order.class, id).pay();
    append(id, "OrderPaid");
  }

  /** In a callback of the entity, while JPA writes it. */
  @Transactional
  public void payWhenWritten(String id) {
    entities.find(Order.class, id).pay(() -> append(id, "OrderPaid"));
  }

  @Transactional
  public void placeAndFail(String id) {
    place(id);
    throw new IllegalStateException("out of stock");
  }

  /** As somebody writes it who forgets the annotation. */
  public void placeWithoutTransaction(String id) {
    append(id, "OrderPlaced");
  }

  @Transactional(readOnly = true)
  public void placeReadOnly(String id) {
    append(id, "OrderPlaced");
  }

  private void append(String id, String eventType) {
    outbox.append(
        OutboxMessage.builder()
            .aggregate("order", id)
            .eventType(eventType)
            .payload("{\"id\": \"%s\"}".formatted(id))
            .build());
  }
}
