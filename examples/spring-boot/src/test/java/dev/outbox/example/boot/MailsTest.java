package dev.outbox.example.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.JoinedOutbox;
import dev.outbox.OutboxMessage;
import dev.outbox.spring.test.AutoConfigureOutbox;
import dev.outbox.testing.RecordingPublisher;
import dev.outbox.testing.RelayOnce;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.transaction.support.TransactionOperations;

/** A relay of tests has no handlers: who wants to see what one does calls it. */
@ContextConfiguration(initializers = OnPostgres.class)
@SpringBootTest(webEnvironment = WebEnvironment.NONE)
@AutoConfigureOutbox
class MailsTest {
  @Autowired private JoinedOutbox outbox;
  @Autowired private RelayOnce relay;
  @Autowired private RecordingPublisher publisher;
  @Autowired private Mails mails;
  @Autowired private JdbcTemplate jdbc;
  @Autowired private TransactionOperations transaction;

  @Test
  void theRecordingPublisherHasTheMessage() {
    jdbc.execute("create table sent (id text, text text)");
    OutboxMessage message =
        OutboxMessage.builder()
            .aggregate("order", "order-1")
            .eventType("OrderMail")
            .payload("{\"to\": \"me@shop.example\", \"text\": \"it is on its way\"}")
            .build();
    transaction.executeWithoutResult(status -> outbox.append(message));
    relay.run();

    assertThat(publisher).hasDeliveredExactly("OrderMail");
    assertThat(sent()).isEmpty();

    mails.send(new Mails.OrderMail("me@shop.example", "it is on its way"), message);
    assertThat(sent()).containsExactly("order-1");
  }

  private List<String> sent() {
    return jdbc.queryForList("select id from sent", String.class);
  }
}
