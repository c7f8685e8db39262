package dev.outbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.publisher.core.LimitedPublisher;
import dev.outbox.publisher.core.Rate;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class LimitedRelayTest {
  private static final Rate RATE = new Rate(3, Duration.ofDays(1));

  private final FaultyStore store = new FaultyStore();
  private final FakePublisher broker = new FakePublisher();
  private final Recorder recorder = new Recorder();

  private Relay relay() {
    return Relay.builder(
            store,
            LimitedPublisher.builder(broker)
                .limit("invoices", RATE, m -> m.message().aggregateType().equals("invoice"))
                .build())
        .workers(4)
        .batchSize(10)
        .listener(recorder)
        .build();
  }

  private void append(String type, String key) {
    store.inTransaction(
        t -> store.append(t, Samples.builder(key, type).aggregateType(type).build()));
  }

  @Test
  @DisplayName("a backlog of a limited destination holds up no other one, and costs no attempt")
  void others() throws Exception {
    for (int i = 0; i < 40; i++) {
      append("invoice", "i" + i);
    }
    for (int i = 0; i < 50; i++) {
      append("order", "o" + i % 9);
    }
    try (Relay relay = relay()) {
      relay.runOnce();
    }
    assertThat(broker.deliveredEvents()).filteredOn("order"::equals).hasSize(50);
    assertThat(broker.deliveredEvents()).filteredOn("invoice"::equals).hasSize(RATE.messages());
    assertThat(recorder.of("postponed"))
        .hasSize(40 - RATE.messages())
        .allMatch(one -> one.endsWith(" the limit of invoices"));
    assertThat(recorder.of("retried")).hasSize(37).allMatch(one -> one.contains(" false "));
    assertThat(store.statistics(100).dead()).isZero();
  }

  @Test
  @DisplayName("a key's later messages wait behind one over its limit, whatever their destination")
  void order() throws Exception {
    for (int i = 0; i < RATE.messages(); i++) {
      append("invoice", "i" + i);
    }
    append("invoice", "k");
    append("order", "k");
    append("order", "other");
    try (Relay relay = relay()) {
      relay.runOnce();
    }
    assertThat(broker.delivered)
        .extracting(StoredMessage::key)
        .containsExactlyInAnyOrder("i0", "i1", "i2", "other");
  }
}
