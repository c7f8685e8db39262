package dev.outbox.example.shop;

import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import jakarta.persistence.Version;
import java.util.UUID;

/** The aggregate. Its version keeps two transactions from changing it at the same time. */
@Entity
@Table(name = "orders")
public class Order {

  /** What can be said of an order. */
  public enum State {
    PLACED,
    PAID
  }

  @Id private String id;
  @Version private Long version;
  private String customer;
  private String article;
  private int quantity;

  @Enumerated(EnumType.STRING)
  private State state;

  protected Order() {}

  Order(String customer, String article, int quantity) {
    id = UUID.randomUUID().toString();
    this.customer = customer;
    this.article = article;
    this.quantity = quantity;
    state = State.PLACED;
  }

  void pay() {
    if (state != State.PLACED) {
      throw new IllegalStateException("order %s is %s already".formatted(id, state));
    }
    state = State.PAID;
  }

  public String getId() {
    return id;
  }

  public String getCustomer() {
    return customer;
  }

  public String getArticle() {
    return article;
  }

  public int getQuantity() {
    return quantity;
  }

  public State getState() {
    return state;
  }
}
