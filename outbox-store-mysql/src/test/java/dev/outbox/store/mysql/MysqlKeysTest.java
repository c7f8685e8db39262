package dev.outbox.store.mysql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.jdbc.DatabaseTests;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.jdbc.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys with everything that JSON, SQL, JDBI or our own templates might take for theirs. */
@ParameterizedClass
@EnumSource
@DisplayName("Keys of any characters")
class MysqlKeysTest extends DatabaseTests {
  private static final List<String> KEYS =
      List.of(
          "\ud83d\udce6".repeat(255),
          "\\".repeat(255),
          "\"".repeat(255),
          "'".repeat(255),
          "\u0001".repeat(255),
          "a\"b\\c'd`e",
          "\\u0041",
          "A",
          "a",
          "\u00e4",
          "a\u0308",
          "a ",
          " a",
          "\t\r\n\u001f\u007f",
          "],[0,\"a\"",
          "${bucket} ${p} :key :rows ? %s <x>",
          "\u2028\ufffd\uffff");

  MysqlKeysTest(Tested tested) {
    super(tested);
  }

  private static List<OutboxMessage> messages(boolean dedup) {
    return KEYS.stream()
        .map(
            key ->
                OutboxMessage.builder()
                    .aggregate("order", key)
                    .partitionKey(key)
                    .eventType("Placed")
                    .payload("{}")
                    .dedupKey(dedup ? key : null)
                    .build())
        .toList();
  }

  private static void append(TestDatabase in, JdbcOutboxStore store) {
    in.inTransaction(
        false, c -> assertThat(store.append(c, messages(false)).duplicates()).isEmpty());
  }

  private static Claim claim(JdbcOutboxStore store) {
    return store.claim(new Claim.Request("test", 1_000, 10_000_000, Duration.ofMinutes(1)));
  }

  /** All that can be had, settled as told. */
  private static List<String> settleAll(
      JdbcOutboxStore store, Function<StoredMessage, Decision> decision) {
    List<String> keys = new ArrayList<>();
    Claim claim;
    do {
      claim = claim(store);
      Map<Long, Decision> decisions = new HashMap<>();
      claim.messages().forEach(m -> decisions.put(m.sequence(), decision.apply(m)));
      assertThat(claim.settle(decisions)).isEmpty();
      claim.messages().forEach(m -> keys.add(m.key()));
    } while (!claim.messages().isEmpty() || claim.pollAgain());
    return keys;
  }

  @ParameterizedTest
  @ValueSource(strings = {"ANSI_QUOTES,NO_BACKSLASH_ESCAPES", "STRICT_TRANS_TABLES"})
  @DisplayName("stay what they are and apart, in every statement")
  void everyStatement(String mode) {
    try (TestDatabase in =
        tested()
            .database(
                config ->
                    config.addDataSourceProperty("sessionVariables", "sql_mode='" + mode + "'"))) {
      JdbcOutboxStore store = builder(in.pool).build();
      store.migrate();
      append(in, store);
      assertThat(settleAll(store, m -> Decision.retry(Duration.ofHours(1), m.key())))
          .as("fail")
          .containsExactlyInAnyOrderElementsOf(KEYS);
      append(in, store);
      append(in, store);
      assertThat(settleAll(store, m -> Decision.delivered())).as("wait").isEmpty();
      assertThat(in.query("select count(*) from outbox_message where status <> 'BLOCKED'"))
          .as("not moved")
          .isEqualTo("0");
      in.execute("update outbox_blocked_key set retry_at = utc_timestamp(6)");
      assertThat(settleAll(store, m -> Decision.delivered())).hasSize(3 * KEYS.size());
      assertThat(in.query("select count(*) from outbox_blocked_key")).as("let go").isEqualTo("0");
      halted(in, store);
      dedup(in, store);
    }
  }

  private static void dedup(TestDatabase in, JdbcOutboxStore store) {
    in.inTransaction(
        false,
        c -> {
          assertThat(store.append(c, messages(true)).duplicates()).isEmpty();
          assertThat(store.append(c, messages(true)).duplicates()).hasSize(KEYS.size());
        });
    in.execute("update outbox_dedup set created_at = utc_timestamp(6) - interval 8 day");
    store.housekeep();
    assertThat(in.query("select count(*) from outbox_dedup")).as("purged").isEqualTo("0");
  }

  private static void halted(TestDatabase in, JdbcOutboxStore store) {
    append(in, store);
    append(in, store);
    assertThat(settleAll(store, m -> Decision.deadHaltingKey("no")))
        .hasSizeGreaterThan(KEYS.size());
    List<StoredMessage> dead =
        store.deadLetters(0, 1_000).stream().map(letter -> letter.message()).toList();
    assertThat(dead.stream().map(StoredMessage::key).collect(Collectors.toSet()))
        .containsExactlyInAnyOrderElementsOf(KEYS);
    dead.forEach(m -> assertThat(store.requeue(m.sequence())).isTrue());
    settleAll(store, m -> Decision.delivered());
    assertThat(in.query("select count(*) from outbox_message")).isEqualTo("0");
    assertThat(in.query("select count(*) from outbox_blocked_key")).isEqualTo("0");
  }
}
