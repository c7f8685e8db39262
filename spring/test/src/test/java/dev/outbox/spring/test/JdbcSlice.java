package dev.outbox.spring.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.JoinedOutbox;
import dev.outbox.OutboxMessage;
import dev.outbox.testing.RecordingPublisher;
import dev.outbox.testing.RelayOnce;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.transaction.TestTransaction;
import org.springframework.transaction.annotation.Transactional;

/** {@code @JdbcTest} puts a transaction around each test method; the relay sees what it commits. */
@Transactional // said again: that of the slice is for the methods of its own class
abstract class JdbcSlice extends Place {
  @Autowired private JoinedOutbox outbox;
  @Autowired private RelayOnce relay;
  @Autowired private RecordingPublisher publisher;

  @Test
  void theRelayDeliversWhatTheTestCommits() {
    outbox.append(
        OutboxMessage.builder()
            .aggregate("order", "1")
            .eventType("OrderPlaced")
            .payload("{\"total\": 12.50}")
            .header("source", "shop")
            .build());
    assertThat(relay.run().delivered()).isEmpty();
    TestTransaction.flagForCommit();
    TestTransaction.end();
    assertThat(relay.run().delivered()).hasSize(1);
    assertThat(publisher)
        .hasDelivered("OrderPlaced")
        .withJson("{\"total\": 12.5}")
        .withHeader("source", "shop")
        .once();
  }
}
