package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.embedded.ChildJvm;
import dev.outbox.store.jdbc.DatabaseTests;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Payloads at the limit, of as many buckets as there are, and a relay with little memory. */
class SmallHeapTest {
  private static final int MESSAGES = 150;
  private static final int HEAP_MIB = 96;

  @Test
  @DisplayName("150 payloads of 1 MB get through a relay with a heap of 96 MiB")
  void largePayloads() throws Exception {
    try (Database database = new Database(Postgres.server())) {
      PostgresOutboxStore store = PostgresOutboxStore.of(database.pool);
      database.execute(store.ddl());
      for (int i = 0; i < MESSAGES; i++) {
        OutboxMessage message =
            DatabaseTests.of("order-" + i).payload(new byte[OutboxMessage.MAX_PAYLOAD]).build();
        database.inTransaction(
            false,
            connection ->
                assertThat(store.append(connection, List.of(message)).duplicates()).isEmpty());
      }
      Map<String, String> settings =
          Map.of(
              "url", Postgres.server().jdbcUrl(),
              "user", Postgres.server().user(),
              "password", Postgres.server().password(),
              "schema", database.query("select current_schema()"),
              "messages", String.valueOf(MESSAGES));
      try (ChildJvm relay = ChildJvm.start(SmallHeap.class, settings, HEAP_MIB)) {
        assertThat(relay.line()).as("the first that it says").isEqualTo("delivered all");
        relay.send("stop");
        assertThat(relay.exitCode()).as("exit code; it said: %s", relay.said()).isZero();
      }
      assertThat(database.query("select count(*) from outbox_message")).isEqualTo("0");
    }
  }
}
