package dev.outbox.example.shop;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.example.shop.OrderEvent.OrderPaid;
import dev.outbox.example.shop.OrderEvent.OrderPlaced;
import dev.outbox.inbox.JoinedInbox;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * Hears of the orders: takes the article from its shelf, and writes mails. Each record may come
 * several times and has its effect once.
 */
// tag::consumer
@Component
public class Warehouse {
  private final JoinedInbox inbox;
  private final EventReader events;
  private final JdbcClient jdbc;

  Warehouse(JoinedInbox inbox, EventReader events, JdbcClient jdbc) {
    this.inbox = inbox;
    this.events = events;
    this.jdbc = jdbc;
  }

  @KafkaListener(topics = "order")
  @Transactional
  public void handle(ConsumerRecord<String, byte[]> record) {
    if (inbox.firstTime("warehouse", header(record, "outbox-id"))) {
      switch (header(record, "outbox-event-type")) {
        case "OrderPlaced" -> placed(events.read(record.value(), OrderPlaced.class));
        case "OrderPaid" -> paid(events.read(record.value(), OrderPaid.class));
        default -> {} // what others make of an order is none of its business
      }
    }
  }

  // end::consumer

  private void placed(OrderPlaced order) {
    jdbc.sql(
            """
            insert into stock (article, taken) values (?, ?)
            on conflict (article) do update set taken = stock.taken + excluded.taken
            """)
        .params(order.article(), order.quantity())
        .update();
    mail(order.orderId(), order.customer(), "We have your order");
  }

  private void paid(OrderPaid order) {
    mail(order.orderId(), order.customer(), "Your parcel is on its way");
  }

  private void mail(String orderId, String customer, String subject) {
    jdbc.sql("insert into mail (order_id, customer, subject) values (?, ?, ?)")
        .params(orderId, customer, subject)
        .update();
  }

  /** The mails about an order, in their order. */
  List<String> mails(String orderId) {
    return jdbc.sql("select subject from mail where order_id = ? order by id")
        .param(orderId)
        .query(String.class)
        .list();
  }

  private static String header(ConsumerRecord<String, byte[]> record, String name) {
    return new String(record.headers().lastHeader(name).value(), UTF_8);
  }
}
