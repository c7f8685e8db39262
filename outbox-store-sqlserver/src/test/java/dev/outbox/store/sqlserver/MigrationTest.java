package dev.outbox.store.sqlserver;

import static dev.outbox.store.sqlserver.Recorder.row;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.store.sqlserver.Recorder.Execution;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What Liquibase does over a live connection, where it asks more than offline. */
@DisplayName("A migration")
class MigrationTest {
  private final Recorder driver = new Recorder(MigrationTest::answer, sql -> 1);

  /**
   * A login whose schema is dbo, in a database that has none of the tables, but for Liquibase's
   * lock, which it finds by counting its rows.
   */
  private static List<Map<String, Object>> answer(String sql) {
    if (sql.equals("select schema_name()")) {
      return List.of(row("", "dbo"));
    } else if (sql.contains("'EngineEdition'")) {
      return List.of(row("", "Enterprise"));
    } else if (sql.contains("'Collation'")) {
      return List.of(row("", "SQL_Latin1_General_CP1_CI_AS"));
    } else if (sql.startsWith("SELECT COUNT(*)") || sql.startsWith("SELECT MAX(")) {
      return List.of(row("", 0));
    }
    return sql.startsWith("SELECT LOCKED") ? List.of(row("", 0)) : List.of();
  }

  @Test
  @DisplayName("puts all into the schema that was chosen, Liquibase's own tables too")
  void chosenSchema() {
    Logger.getLogger("liquibase").setLevel(Level.WARNING); // it says more than our tests need
    SqlServerOutboxStore.builder(driver.dataSource()).schema("shop").build().migrate();
    List<String> executed = driver.executions.stream().map(Execution::sql).toList();
    for (String table :
        List.of("message", "blocked_key", "bucket", "dedup", "schema", "databasechangelog")) {
      assertThat(executed)
          .as(table)
          .anyMatch(sql -> sql.matches("(?is)create table shop\\.outbox_" + table + " \\(.*"));
    }
    assertThat(executed)
        .filteredOn(sql -> sql.matches("(?is).*\\b(table|into|update|from|on|join) outbox_\\w.*"))
        .as("statements that name a table without the schema")
        .isEmpty();
    assertThat(executed)
        .anyMatch(sql -> sql.startsWith("INSERT INTO shop.outbox_databasechangelog "));
  }
}
