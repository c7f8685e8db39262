package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StatisticsStore.Flow;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("What comes and goes")
class FlowTest extends DatabaseTest {
  @Test
  @DisplayName("is what was appended and delivered, also by others")
  void flow() {
    Flow before = store.flow().orElseThrow();
    List<OutboxMessage> messages =
        IntStream.range(0, 5)
            .mapToObj(i -> OutboxMessage.builder().aggregate("order", "" + i))
            .map(message -> message.eventType("e").payload("{}").build())
            .toList();
    append(messages);
    Claim claim = store.claim(new Claim.Request("r", 10, 1_000_000, Duration.ofMinutes(1)));
    Map<Long, Decision> decisions = new HashMap<>();
    claim.messages().stream()
        .limit(3)
        .forEach(message -> decisions.put(message.sequence(), Decision.delivered()));
    assertThat(claim.settle(decisions)).isEmpty();
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> {
              Flow now = store.flow().orElseThrow();
              assertThat(now.in() - before.in()).isEqualTo(5);
              assertThat(now.out() - before.out()).isEqualTo(3);
            });
  }
}
