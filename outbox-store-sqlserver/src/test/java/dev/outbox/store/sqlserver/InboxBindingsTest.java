package dev.outbox.store.sqlserver;

import static dev.outbox.store.sqlserver.Recorder.row;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.Fingerprint;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.spi.store.InboxStore.InboxStatistics;
import dev.outbox.store.sqlserver.Recorder.Execution;
import java.sql.Connection;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Every method of the inbox against a driver that records, so that no statement goes untried. */
@DisplayName("What the inbox binds")
class InboxBindingsTest {
  private static final InboxKey KEY = new InboxKey("billing", "m-1");
  private static final Duration LOCK = Duration.ofMillis(1_500);
  private static final String TOKEN = "0b3e2d0c-8a7a-4c4e-9d4b-0a4c4f0d8f6e";

  private final Map<String, String> names =
      Texts.inboxStatements().entrySet().stream()
          .collect(Collectors.toMap(Map.Entry::getValue, Map.Entry::getKey));
  private final Map<String, List<Map<String, Object>>> answers = new HashMap<>();
  private final Map<String, Integer> counts = new HashMap<>();
  private final Recorder driver =
      new Recorder(
          sql -> answers.getOrDefault(name(sql), List.of()),
          sql -> counts.getOrDefault(name(sql), 1));
  private final SqlServerInboxStore inbox =
      SqlServerInboxStore.builder(driver.dataSource()).schema("shop").build();

  private String name(String sql) {
    return names.getOrDefault(sql, sql.contains("page_locks") ? "SCHEMA_VERSION" : sql);
  }

  private void isThere(String state, String token, long leftMicros) {
    gives("SCHEMA_VERSION", "version no_count page_locks", 1, 0, null);
    gives(
        "FIND",
        "state token fingerprint attempts content_type result left_micros",
        state,
        token,
        null,
        1,
        null,
        null,
        leftMicros);
  }

  private void gives(String name, String columns, Object... values) {
    answers.put(name, List.of(row(columns, values)));
  }

  private List<Execution> executions(String name) {
    return driver.executions.stream().filter(e -> name.equals(name(e.sql()))).toList();
  }

  private Map<Integer, Object> bound(String name) {
    return executions(name).get(0).parameters().entrySet().stream()
        .collect(HashMap::new, (m, e) -> m.put(e.getKey(), e.getValue().value()), Map::putAll);
  }

  @Test
  @DisplayName("is every parameter of every statement, and texts as nvarchar")
  void everything() {
    Connection transaction = driver.connection();
    isThere("FAILED", TOKEN, 0);
    counts.put("INSERT", 0);
    assertThat(inbox.firstTime(transaction, KEY)).as("taken over").isTrue();
    Begin<Connection> begin = inbox.begin(KEY, LOCK, Fingerprint.ofHash(new byte[] {1, 2}));
    Lock<Connection> lock = ((Begin.Started<Connection>) begin).lock();
    assertThat(lock.attempts()).isEqualTo(2);
    assertThat(lock.renew(LOCK)).isTrue();
    assertThat(lock.complete(transaction, InboxResult.of(new byte[] {3}, "text/plain"))).isTrue();
    assertThat(lock.release("no")).isTrue();
    gives("EXPIRED", "consumer message_id", "billing", "m-0");
    inbox.housekeep();
    gives("STATISTICS", "in_progress expired_locks failed", 1L, 2L, 3L);
    assertThat(inbox.statistics(10)).isEqualTo(new InboxStatistics(10, 1, 2, 3));

    assertThat(driver.executions.stream().map(e -> name(e.sql()))).containsAll(names.values());
    for (Execution execution : driver.executions) {
      String name = names.get(execution.sql());
      if (name != null) {
        int places = (int) execution.sql().chars().filter(c -> c == '?').count();
        assertThat(execution.parameters().keySet())
            .as("parameters of %s", name)
            .containsExactlyElementsOf(IntStream.rangeClosed(1, places).boxed().toList());
        assertThat(execution.parameters().values())
            .as("parameters of %s", name)
            .noneMatch(parameter -> parameter.setter().equals("setString"));
      }
    }
  }

  @Test
  @DisplayName("has the order in which the statements name it")
  void order() {
    isThere("FAILED", TOKEN, 0);
    counts.put("INSERT", 0);
    assertThat(inbox.begin(KEY, LOCK, Fingerprint.none())).isInstanceOf(Begin.Started.class);
    assertThat(bound("INSERT"))
        .containsEntry(1, "billing")
        .containsEntry(2, "m-1")
        .containsEntry(3, "STARTED")
        .containsEntry(5, 1_500L)
        .containsEntry(7, Duration.ofDays(7).plus(LOCK).toMillis());
    Map<Integer, Object> takeOver = bound("TAKE_OVER");
    assertThat(takeOver)
        .containsEntry(1, "STARTED")
        .containsEntry(3, 1_500L)
        .containsEntry(4, 1)
        .containsEntry(10, "billing")
        .containsEntry(11, "m-1")
        .containsEntry(12, TOKEN)
        .containsEntry(13, "FAILED");
    assertThat(takeOver.get(2)).isEqualTo(bound("INSERT").get(4)).isNotEqualTo(TOKEN);
  }

  @Test
  @DisplayName("is nothing more where the key is done, or locked")
  void decidedByTheRow() {
    counts.put("INSERT", 0);
    isThere("DONE", null, 0);
    assertThat(inbox.firstTime(driver.connection(), KEY)).isFalse();
    isThere("STARTED", TOKEN, 2_500);
    assertThat(inbox.begin(KEY, LOCK, Fingerprint.none()))
        .isEqualTo(new Begin.InProgress<>(Duration.ofNanos(2_500_000)));
    assertThat(executions("TAKE_OVER")).isEmpty();
  }
}
