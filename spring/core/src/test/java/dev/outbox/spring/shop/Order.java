package dev.outbox.spring.shop;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.PostUpdate;
import jakarta.persistence.Table;
import jakarta.persistence.Transient;

/** The aggregate. */
@Entity
@Table(name = "orders")
public class Order {
  @Id private String id;
  private String state;
  @Transient private Runnable whenWritten = () -> {};

  protected Order() {}

  Order(String id) {
    this.id = id;
    state = "NEW";
  }

  void pay() {
    state = "PAID";
  }

  void pay(Runnable whenWritten) {
    pay();
    this.whenWritten = whenWritten;
  }

  @PostUpdate
  void written() {
    whenWritten.run();
  }
}
