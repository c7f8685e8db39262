package dev.outbox.example.boot;

import dev.outbox.OutboxMessage;
import dev.outbox.spring.OutboxHandler;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/** What does not go to the broker. */
@Component
public class Mails {
  private final JdbcTemplate jdbc;

  Mails(JdbcTemplate jdbc) {
    this.jdbc = jdbc;
  }

  // tag::handler
  public record OrderMail(String to, String text) {}

  @OutboxHandler // the event type is OrderMail; others go to the broker
  public void send(OrderMail mail, OutboxMessage message) {
    jdbc.update("insert into sent values (?, ?)", message.aggregateId(), mail.text());
  }
  // end::handler
}
