package dev.outbox.store.mysql;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.store.jdbc.TestDatabase;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

/**
 * The TCK once more, with everything different that a pool, a session or the driver may set:
 * connections that come with auto-commit off, SERIALIZABLE as the default, an unusual sql_mode that
 * is not strict, another time zone, statements prepared on the server and kept, batches rewritten,
 * rows counted that changed instead of those that were found, other names.
 *
 * <p>What statements read, and what a killed server keeps, is as in {@link MysqlStoreTest}: that is
 * the tables' and the server's, and no session's.
 */
class MysqlVariantTest extends MysqlStoreTck {

  private static final String SQL_MODE =
      "PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,NO_UNSIGNED_SUBTRACTION,NO_BACKSLASH_ESCAPES,"
          + "HIGH_NOT_PRECEDENCE,PAD_CHAR_TO_FULL_LENGTH";

  @Override
  protected void configure(HikariConfig config) {
    vary(config);
  }

  static void vary(HikariConfig config) {
    config.setAutoCommit(false);
    config.addDataSourceProperty("rewriteBatchedStatements", "true");
    config.addDataSourceProperty("useServerPrepStmts", "true");
    config.addDataSourceProperty("cachePrepStmts", "true");
    config.addDataSourceProperty("useAffectedRows", "true");
    config.addDataSourceProperty(
        "jdbcCompliantTruncation", "false"); // or the driver makes it strict
    config.addDataSourceProperty("connectionTimeZone", "Asia/Kathmandu");
    config.addDataSourceProperty("preserveInstants", "true");
    config.addDataSourceProperty(
        "sessionVariables",
        "transaction_isolation='SERIALIZABLE',time_zone='-07:00',"
            + "sql_mode='%s'".formatted(SQL_MODE));
  }

  @Override
  protected String prefix() {
    return "billing_events_";
  }

  @Override
  protected int load() {
    return 500;
  }

  @Override
  protected LongSupplier workCounter(TestDatabase session) {
    throw new TestAbortedException("skipped: MysqlStoreTest counts the work");
  }

  @Override
  public void killServer() {
    throw new TestAbortedException("skipped: MysqlStoreTest kills the server");
  }

  @Test
  @DisplayName("The variant's settings are in force")
  void settings() {
    assertThat(
            database()
                .query(
                    "select concat_ws(' ', @@sql_mode, @@time_zone, @@transaction_isolation, @@autocommit)"))
        .isEqualTo(SQL_MODE + " -07:00 SERIALIZABLE 0");
  }
}
