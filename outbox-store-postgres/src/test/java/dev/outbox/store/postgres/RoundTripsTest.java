package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.embedded.PostgresServer;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Round trips")
class RoundTripsTest {
  private static PostgresServer server;
  private static Database database;
  private static PostgresOutboxStore store;

  @BeforeAll
  static void start() {
    server = PostgresServer.forTests();
    database =
        new Database(
            server,
            config -> config.addDataSourceProperty("socketFactory", RoundTrips.class.getName()));
    store = PostgresOutboxStore.of(database.pool);
    store.migrate();
    store.verify();
  }

  @AfterAll
  static void stop() throws Exception {
    database.close();
    server.close();
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
          assertThat(RoundTrips.during(() -> store.append(c, messages(1, false)))).isEqualTo(1);
          assertThat(RoundTrips.during(() -> store.append(c, messages(1_000, false)))).isEqualTo(1);
          assertThat(RoundTrips.during(() -> store.append(c, messages(1_000, true)))).isEqualTo(1);
          assertThat(RoundTrips.during(() -> store.append(c, List.of()))).isZero();
        });
  }
}
