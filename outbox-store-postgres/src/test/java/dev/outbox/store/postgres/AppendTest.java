package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.jdbc.Intercepted;
import dev.outbox.store.jdbc.TestDatabase;
import dev.outbox.tck.internal.Jdbc;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each form of the statement has each field in its place. */
@DisplayName("Each field in its column, in the order of the append")
class AppendTest extends DatabaseTest {

  @ParameterizedTest(name = "{0} messages, dedup keys: {1}, times: {2}")
  @CsvSource({
    "1, false, false",
    "1, false, true",
    "1, true, true",
    "2, false, false",
    "10, false, false",
    "10, false, true",
    "10, true, false",
    "11, false, false",
    "11, false, true",
    "11, true, true"
  })
  void fields(int count, boolean dedup, boolean times) {
    List<OutboxMessage> messages =
        IntStream.range(0, count).mapToObj(i -> message(i, dedup, times)).toList();
    append(messages);
    assertThat(delivered()).isEqualTo(messages);
  }

  /** A statement that compared each with each would take minutes. */
  @Test
  @DisplayName("Many dedup keys in one statement are compared once")
  void manyDedupKeys() throws SQLException {
    List<OutboxMessage> messages =
        IntStream.range(0, 50_000).mapToObj(i -> of("1").dedupKey("d" + i / 2).build()).toList();
    Append append = new Append(new PrefixedNames(null, PrefixedNames.DEFAULT_PREFIX));
    try (Connection connection = database.pool.getConnection()) {
      connection.setAutoCommit(false);
      TestDatabase.execute(connection, "set local statement_timeout = '60s'");
      assertThat(append.appendAtOnce(connection, messages, Duration.ofDays(1)))
          .hasSize(25_000)
          .contains(messages.get(1).id(), messages.get(49_999).id());
      connection.rollback();
    }
  }

  @Test
  @DisplayName("A mass goes into several statements, in order and without duplicates")
  void mass() {
    List<OutboxMessage> many =
        IntStream.range(0, 10_001)
            .mapToObj(i -> of("1").dedupKey("d" + i % 10_000).build())
            .toList();
    assertThat(statements(many)).isEqualTo(2);
    assertThat(delivered()).isEqualTo(many.subList(0, 10_000));

    List<OutboxMessage> large =
        IntStream.range(0, 68).mapToObj(i -> message(new byte[1_000_000])).toList();
    assertThat(statements(large)).isEqualTo(2);
    assertThat(delivered()).hasSize(68);
  }

  /** How many it takes to append them. */
  private int statements(List<OutboxMessage> messages) {
    AtomicInteger inserts = new AtomicInteger();
    DataSource counted =
        Intercepted.rewriting(
            database.pool,
            sql -> {
              inserts.addAndGet(sql.contains("into outbox_message") ? 1 : 0);
              return sql;
            });
    Jdbc.inTransaction(counted, c -> store.append(c, messages));
    return inserts.get();
  }

  /** Every second one leaves out what may be left out. */
  private static OutboxMessage message(int i, boolean dedup, boolean times) {
    OutboxMessage.Builder message =
        OutboxMessage.builder()
            .aggregate("type " + i, "id " + i)
            .eventType("event " + i)
            .payload("\\ \" { " + i);
    if (i % 2 == 0) {
      message
          .partitionKey("{\"key\\ " + i)
          .contentType("text/plain; n=" + i)
          .header("name", "value " + i)
          .header("name", "\",\\")
          .correlationId("correlation " + i)
          .maxAttempts(1 + i)
          .dedupKey(dedup ? "dedup " + i : null)
          .availableAt(times ? Instant.EPOCH.plusSeconds(i) : null);
    }
    return message.build();
  }
}
