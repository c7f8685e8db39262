package dev.outbox.example.shop;

import java.net.URI;
import java.util.List;
import java.util.NoSuchElementException;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** The shop over HTTP. */
@RestController
@RequestMapping("/orders")
class OrderController {
  private final OrderService service;
  private final Orders orders;
  private final Warehouse warehouse;

  OrderController(OrderService service, Orders orders, Warehouse warehouse) {
    this.service = service;
    this.orders = orders;
    this.warehouse = warehouse;
  }

  /** What a customer sends. */
  record NewOrder(String customer, String article, int quantity) {}

  /** What a customer sees: the order, and which mails have been sent because of it. */
  record OrderView(String id, Order.State state, List<String> mails) {}

  @PostMapping
  ResponseEntity<OrderView> place(@RequestBody NewOrder order) {
    Order placed = service.place(order.customer(), order.article(), order.quantity());
    return ResponseEntity.created(URI.create("/orders/" + placed.getId())).body(view(placed));
  }

  @PutMapping("/{id}/payment")
  OrderView pay(@PathVariable("id") String id) {
    return view(service.pay(id));
  }

  @GetMapping("/{id}")
  OrderView order(@PathVariable("id") String id) {
    return view(orders.findById(id).orElseThrow());
  }

  private OrderView view(Order order) {
    return new OrderView(order.getId(), order.getState(), warehouse.mails(order.getId()));
  }

  @ExceptionHandler
  ProblemDetail noSuchOrder(NoSuchElementException e) {
    return ProblemDetail.forStatusAndDetail(HttpStatus.NOT_FOUND, "there is no such order");
  }

  @ExceptionHandler({IllegalStateException.class, ConcurrencyFailureException.class})
  ProblemDetail conflict(RuntimeException e) {
    return ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, String.valueOf(e.getMessage()));
  }
}
