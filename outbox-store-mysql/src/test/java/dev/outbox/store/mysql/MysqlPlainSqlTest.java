package dev.outbox.store.mysql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.jdbc.DatabaseTests;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A5: what a later step could not bear is refused by the table itself, not cut, not corrected. */
@ParameterizedClass
@EnumSource
@DisplayName("A row by plain SQL")
class MysqlPlainSqlTest extends DatabaseTests {
  private static final String STRICT = "STRICT_TRANS_TABLES";

  MysqlPlainSqlTest(Tested tested) {
    super(tested);
  }

  /** Columns with values, as SQL, of a row that is good but for one. */
  private static String insert(String verb, String column, String value) {
    Map<String, String> columns = new LinkedHashMap<>();
    columns.put("aggregate_type", "'order'");
    columns.put("aggregate_id", "'1'");
    columns.put("event_type", "'Placed'");
    columns.put("payload", "''");
    if (column.equals("place")) {
      columns.put("status", "'BLOCKED'");
    }
    columns.put(column, value);
    return "%s into outbox_message (%s) values (%s)"
        .formatted(verb, String.join(", ", columns.keySet()), String.join(", ", columns.values()));
  }

  private static List<String[]> unsafe() {
    List<String[]> unsafe = new ArrayList<>();
    for (String text :
        List.of(
            "aggregate_type",
            "aggregate_id",
            "event_type",
            "partition_key",
            "content_type",
            "dedup_key",
            "correlation_id")) {
      for (String value : List.of("repeat('x', 256)", "repeat('x', 300)", "''", "'  '")) {
        unsafe.add(new String[] {text, value});
      }
      unsafe.add(new String[] {text, "repeat(_utf8mb4 0xF09F93A6, 256)"});
    }
    unsafe.addAll(
        List.of(
            new String[][] {
              {"payload", "repeat('x', 1000001)"},
              {"bucket", "(crc32('order/1') & 63) ^ 1"},
              {"bucket", "300"},
              {"place", "'2'"},
              {"place", "'1 '"},
              {"place", "repeat('x', 2000)"},
              {"status", "'SENT'"},
              {"status", "0"},
              {"id", "repeat('x', 35)"},
              {"id", "concat(uuid(), 'x')"},
              {"id", "repeat('x', 72)"},
              {"id", "''"},
              {"headers", "'no JSON'"},
              {"headers", "'[\"cut'"},
              {"headers", "'17'"},
              {"headers", "'null'"},
              {"headers", "''"},
              {"headers", "concat('[\"', repeat('x', 100000), '\"]')"},
              {"created_at", "'10000-01-01'"},
              {"created_at", "0"},
              {"available_at", "'1969-12-31'"},
              {"available_at", "'9999-12-31'"},
              {"available_at", "0"},
              {"attempts", "-1"},
            }));
    return unsafe;
  }

  private interface Work {
    void in(Statement statement) throws SQLException;
  }

  private void inMode(String mode, Work work) throws SQLException {
    try (Connection connection = database.pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("set @mode_before = @@session.sql_mode, sql_mode = '" + mode + "'");
      try {
        work.in(statement);
      } finally {
        statement.execute("set sql_mode = @mode_before");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {STRICT, "", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES"})
  @DisplayName("with an unsafe value is refused, whatever sql_mode is")
  void unsafeValues(String mode) throws SQLException {
    inMode(
        mode,
        statement -> {
          for (String[] value : unsafe()) {
            String sql = insert("insert", value[0], value[1]);
            assertThatThrownBy(() -> statement.execute(sql))
                .as("%s = %s", value[0], value[1])
                .isInstanceOf(SQLException.class);
          }
          assertThatThrownBy(
                  () ->
                      statement.execute(
                          "insert into outbox_dedup (dedup_key) values (repeat('x', 256))"))
              .isInstanceOf(SQLException.class);
          assertThatThrownBy(() -> statement.execute("update outbox_bucket set bucket = 64"))
              .isInstanceOf(SQLException.class);
          statement.execute(insert("insert", "attempts", "0"));
          for (String change :
              List.of(
                  "aggregate_id = '2'",
                  "partition_key = '2'",
                  "status = 'BLOCKED'",
                  "headers = '{'")) {
            assertThatThrownBy(() -> statement.execute("update outbox_message set " + change))
                .as(change)
                .isInstanceOf(SQLException.class);
          }
        });
    assertThat(database.query("select count(*) from outbox_message")).isEqualTo("1");
    assertThat(store.claim(request()).messages()).hasSize(1);
  }

  @Test
  @DisplayName("with an unsafe value is left out by INSERT IGNORE")
  void ignored() throws SQLException {
    inMode(
        STRICT,
        statement -> {
          for (String[] value : unsafe()) {
            statement.executeUpdate(insert("insert ignore", value[0], value[1]));
          }
        });
    assertThat(database.query("select count(*) from outbox_message")).isEqualTo("0");
  }

  @Test
  @DisplayName("with the longest of everything is claimed as it is")
  void longest() throws SQLException {
    String emoji = "repeat(_utf8mb4 0xF09F93A6, 255)";
    inMode(
        "",
        statement -> {
          statement.execute(insert("insert", "aggregate_id", emoji));
          statement.execute(insert("insert", "payload", "repeat('x', 1000000)"));
          statement.execute(insert("insert", "id", "repeat('x', 36)"));
          statement.execute(
              insert("insert", "headers", "concat('[[\"h\",\"', repeat('x', 16000 - 1), '\"]]')"));
        });
    List<StoredMessage> messages =
        store.claim(new Claim.Request("test", 10, 10_000_000, Duration.ofMinutes(1))).messages();
    assertThat(messages).hasSize(4);
    assertThat(messages)
        .filteredOn(m -> m.problem() != null)
        .as("with an id that is no UUID")
        .hasSize(1);
  }
}
