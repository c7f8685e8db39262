package dev.outbox.store.mysql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.store.jdbc.HostileRowsTests;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** With the least that sql_mode can ask for: what it lets pass must not be worse for it. */
@ParameterizedClass
@EnumSource
@DisplayName("Hostile rows")
class MysqlHostileRowsTest extends HostileRowsTests {
  private static final List<String> NO_TIMES =
      List.of("'0000-00-00'", "'2024-00-10'", "'2024-02-00'", "'2024-02-31'", "0", "''", "'x'");

  private String mode = "ALLOW_INVALID_DATES";

  MysqlHostileRowsTest(Tested tested) {
    super(tested);
  }

  @Override
  protected void enter(Statement session) throws SQLException {
    session.execute("set @mode_before = @@session.sql_mode, sql_mode = '" + mode + "'");
  }

  @Override
  protected void leave(Statement session) throws SQLException {
    session.execute("set sql_mode = @mode_before");
  }

  @Override
  protected String time(String utc) {
    return "'" + utc + "'";
  }

  @Override
  protected String backslash() {
    return "\\\\";
  }

  @Override
  protected String bytes(int count) {
    return "repeat('x', %d)".formatted(count);
  }

  @Override
  protected Hostile twins(String key, String other) {
    return new Hostile(
        "two with one sequence",
        Fate.DELIVERED,
        """
        insert into outbox_message (seq, aggregate_type, aggregate_id, event_type, payload)
        values (1, 'order', '%s', 'e', ''), (1, 'order', '%s', 'e', '')
        """
            .formatted(key, other),
        List.of());
  }

  @Override
  protected List<Hostile> rows() {
    List<Hostile> rows = new ArrayList<>();
    rows.add(row(Fate.DEAD, "attempts", "2147483648")); // cut to what fits
    for (String column : List.of("aggregate_id", "partition_key", "content_type")) {
      rows.add(row(Fate.DEAD, column, "?", "a\0b"));
      rows.add(row(Fate.REFUSED, column, "_utf8mb4 0xFF"));
    }
    for (String id : List.of("repeat(' ', 36)", "repeat('x', 35)", "repeat('x', 37)", "''")) {
      rows.add(row(Fate.REFUSED, "id", id));
    }
    for (String id : List.of("repeat('x', 36)", "repeat('-', 36)", "insert(uuid(), 5, 1, 0x00)")) {
      rows.add(row(Fate.DEAD, "id", id));
    }
    for (String time : NO_TIMES) {
      rows.add(row(Fate.REFUSED, "created_at", time));
      rows.add(row(Fate.REFUSED, "available_at", time));
      rows.add(row(Fate.REFUSED, "last_failed_at", time));
    }
    rows.add(row(Fate.REFUSED, "bucket", "(crc32('order/hostile') & 63) ^ 1"));
    rows.add(row(Fate.REFUSED, "bucket", "300"));
    rows.add(row(Fate.REFUSED, "status", "0"));
    rows.add(row(Fate.REFUSED, "created_at", "'10000-01-01'"));
    rows.add(row(Fate.REFUSED, "headers", "concat('[\"', repeat('x', 100000), '\"]')"));
    rows.add(row(Fate.REFUSED, "place", "'x'"));
    for (String place : List.of("'2'", "'1 '", "repeat('x', 2000)")) {
      rows.add(
          row(
              "BLOCKED at " + place,
              Fate.REFUSED,
              Map.of("status", "'BLOCKED'", "aggregate_id", "'1'", "place", place)));
    }
    rows.add(row(Fate.DELIVERED, "seq", "-9223372036854775808"));
    rows.add(row(Fate.DELIVERED, "seq", "-1"));
    return rows;
  }

  @Override
  protected List<Hostile> damages() {
    List<Hostile> damages = new ArrayList<>();
    for (String time : NO_TIMES) {
      damages.add(damage(Fate.REFUSED, "update outbox_bucket set served_at = " + time));
      damages.add(damage("update outbox_bucket set leased_at = " + time));
      damages.add(damage("update outbox_bucket set lease_until = " + time));
      damages.add(damage("update outbox_blocked_key set retry_at = " + time));
      damages.add(
          damage(
              "insert into outbox_dedup (dedup_key, created_at) values ('z', %s)".formatted(time)));
    }
    for (String change : List.of("partition_key = '2'", "status = 'BLOCKED'", "headers = '{'")) {
      damages.add(damage(Fate.REFUSED, "update outbox_message set " + change));
    }
    damages.add(damage(Fate.REFUSED, "update outbox_bucket set bucket = 64"));
    damages.add(
        damage(Fate.REFUSED, "insert into outbox_dedup (dedup_key) values (repeat('x', 256))"));
    damages.add(damage("update outbox_bucket set claim_id = 'nobody'"));
    damages.add(
        damage(
            "insert into outbox_blocked_key (bucket, `key`, retry_at, low_seq) values (63, '', '2020-01-01', 0), (5, repeat(char(7), 256), '2020-01-01', 0)"));
    return damages;
  }

  @ParameterizedTest
  @ValueSource(strings = {"STRICT_TRANS_TABLES", "", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES"})
  @DisplayName("What is refused is so whatever sql_mode is, not cut, not corrected")
  void modes(String mode) {
    this.mode = mode;
    assertThat(refused()).allMatch(this::isRefused);
  }

  /** But for a null, of which it makes a default that a row may have, and for what is no SQL. */
  @Test
  @DisplayName("What is refused is left out by INSERT IGNORE")
  void ignored() {
    mode = "STRICT_TRANS_TABLES";
    assertThat(refused())
        .filteredOn(row -> !row.what().matches("(?s).* = (null|_utf8mb4 0xFF) "))
        .extracting(
            row ->
                new Hostile(
                    row.what(),
                    Fate.DELIVERED,
                    row.sql().replaceFirst("insert", "insert ignore"),
                    row.texts()))
        .noneMatch(this::isRefused);
    assertThat(database.query("select count(*) from outbox_message")).isEqualTo("0");
  }
}
