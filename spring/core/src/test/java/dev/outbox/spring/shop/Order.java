package dev.outbox.spring.shop;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

/** The aggregate. */
@Entity
@Table(name = "orders")
public class Order {
  @Id private String id;
  private String state;

  protected Order() {}

  Order(String id) {
    this.id = id;
    state = "NEW";
  }

  void pay() {
    state = "PAID";
  }
}
