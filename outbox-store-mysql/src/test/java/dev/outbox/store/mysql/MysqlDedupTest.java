package dev.outbox.store.mysql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A4 in a caller's transaction at REPEATABLE READ, MySQL's default. */
@ParameterizedClass
@EnumSource
@DisplayName("A dedup key, at REPEATABLE READ,")
class MysqlDedupTest extends RepeatableReadTests {
  MysqlDedupTest(Tested tested) {
    super(tested, "outbox_dedup");
  }

  @AfterEach
  void eachOnce() {
    assertThat(database.query("select count(dedup_key) from outbox_message"))
        .isEqualTo(database.query("select count(distinct dedup_key) from outbox_message"));
  }

  @Override
  boolean isFirst(Connection transaction, String name) {
    return store.append(transaction, with(name)).allStored();
  }

  private static OutboxMessage with(String dedupKey) {
    return of("1").dedupKey(dedupKey).build();
  }

  private String stored() {
    return database.query(
        "select group_concat(dedup_key order by dedup_key) from outbox_message where dedup_key is not null");
  }

  @Test
  @DisplayName("that was committed after the caller's snapshot is a duplicate")
  void committedAfterTheSnapshot() throws SQLException {
    try (Connection late = begin()) {
      takeSnapshot(late);
      try (Connection first = begin()) {
        assertThat(store.append(first, with("a")).allStored()).isTrue();
        first.commit();
      }
      if (changedRowsEndSnapshots()) {
        assertRunAgain(() -> store.append(late, with("a")));
      } else {
        assertThat(store.append(late, List.of(with("a"), with("b"))).duplicates()).hasSize(1);
        assertThat(store.append(late, with("c")).allStored())
            .as("the transaction goes on")
            .isTrue();
        late.commit();
        assertThat(stored()).isEqualTo("a,b,c");
      }
    }
  }

  @Test
  @DisplayName("that is forgotten may be used again, also one purged after the caller's snapshot")
  void forgotten() throws SQLException {
    database.execute(
        "insert into outbox_dedup (dedup_key, created_at) values"
            + " ('old', utc_timestamp(6) - interval 8 day), ('older', utc_timestamp(6) - interval 9 day)");
    try (Connection producer = begin()) {
      takeSnapshot(producer);
      assertThat(store.append(producer, with("old")).allStored()).isTrue();
      assertThat(store.append(producer, with("old")).allStored()).as("again").isFalse();
      producer.commit();
      takeSnapshot(producer);
      store.housekeep();
      if (changedRowsEndSnapshots()) {
        assertRunAgain(() -> store.append(producer, with("older")));
        producer.rollback();
        takeSnapshot(producer);
      }
      assertThat(store.append(producer, List.of(with("old"), with("older"))).duplicates())
          .hasSize(1);
      producer.commit();
    }
    assertThat(stored()).isEqualTo("old,older");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  @DisplayName("is stored once when many append the same in one call, some of which roll back")
  void oneCall(int rollbackEvery) throws Exception {
    assertEachOnce(
        rollbackEvery,
        (transaction, names) ->
            store
                .append(transaction, names.stream().map(MysqlDedupTest::with).toList())
                .stored()
                .size());
  }
}
