package dev.outbox.example.shop;

import dev.outbox.payload.OutboxEvent;

/** What others are told of an order. */
@OutboxEvent(aggregate = "order", key = "orderId")
public sealed interface OrderEvent {
  record OrderPlaced(String orderId, String customer, String article, int quantity)
      implements OrderEvent {}

  record OrderPaid(String orderId, String customer) implements OrderEvent {}
}
