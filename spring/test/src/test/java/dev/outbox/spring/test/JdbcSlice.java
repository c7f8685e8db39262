package dev.outbox.spring.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.JoinedOutbox;
import dev.outbox.payload.OutboxEvents;
import dev.outbox.testing.RecordingPublisher;
import dev.outbox.testing.RelayOnce;
import java.math.BigDecimal;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.transaction.TestTransaction;
import org.springframework.transaction.annotation.Transactional;

/** {@code @JdbcTest} puts a transaction around each test method; the relay sees what it commits. */
@Transactional // said again: that of the slice is for the methods of its own class
abstract class JdbcSlice extends Place {
  @Autowired private JoinedOutbox outbox;
  @Autowired private OutboxEvents events;
  @Autowired private RelayOnce relay;
  @Autowired private RecordingPublisher publisher;

  @Test
  void theRelayDeliversWhatTheTestCommits() {
    outbox.append(
        events
            .prepare(new OrderPlaced("1", new BigDecimal("12.50")))
            .header("source", "shop")
            .build());
    assertThat(relay.run().delivered()).isEmpty();
    TestTransaction.flagForCommit();
    TestTransaction.end();
    assertThat(relay.run().delivered()).hasSize(1);
    assertThat(publisher)
        .hasDelivered("OrderPlaced")
        .withJson("{\"id\": \"1\", \"total\": 12.5}")
        .withHeader("source", "shop")
        .once();
  }
}
