package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.OutboxMessage;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Round trips")
class RoundTripsTest extends DatabaseTest {
  @Override
  protected void configure(HikariConfig config) {
    config.addDataSourceProperty("socketFactory", CountedSockets.class.getName());
  }

  @BeforeEach
  void migrate() {
    store.migrate();
    store.verify();
  }

  private static List<OutboxMessage> messages(int count, boolean dedup) {
    return IntStream.range(0, count)
        .mapToObj(
            i ->
                OutboxMessage.builder()
                    .aggregate("order", "order " + i)
                    .eventType("Placed")
                    .payload(new byte[1_000])
                    .header("traceparent", "00-0")
                    .dedupKey(dedup ? "key " + i : null)
                    .build())
        .toList();
  }

  @Test
  @DisplayName("an append is one, of one message or of many, with dedup keys or without")
  void append() {
    database.inTransaction(
        false,
        c -> {
          store.append(c, messages(1, false)); // begins the transaction
          assertThat(CountedSockets.roundTrips(() -> store.append(c, messages(1, false))))
              .isEqualTo(1);
          assertThat(CountedSockets.roundTrips(() -> store.append(c, messages(10, false))))
              .isEqualTo(1);
          assertThat(CountedSockets.roundTrips(() -> store.append(c, messages(11, false))))
              .isEqualTo(1);
          assertThat(CountedSockets.roundTrips(() -> store.append(c, messages(1_000, false))))
              .isEqualTo(1);
          assertThat(CountedSockets.roundTrips(() -> store.append(c, messages(1_000, true))))
              .isEqualTo(1);
          assertThat(CountedSockets.roundTrips(() -> store.append(c, List.of()))).isZero();
        });
  }
}
