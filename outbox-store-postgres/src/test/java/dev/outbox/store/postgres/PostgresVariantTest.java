package dev.outbox.store.postgres;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.store.jdbc.TestDatabase;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.opentest4j.TestAbortedException;

/**
 * The TCK once more, with everything different that a pool or a database may set: connections that
 * come with auto-commit off, SERIALIZABLE as the default, commits that do not wait for the disk,
 * statements that the driver sends as one text with their values, other names. What statements read
 * with their values as texts is what {@link PlanCostsTest} has with {@code force_custom_plan}.
 */
class PostgresVariantTest extends PostgresStoreTck {

  @Override
  protected void configure(HikariConfig config) {
    vary(config);
  }

  static void vary(HikariConfig config) {
    config.setAutoCommit(false);
    config.addDataSourceProperty("preferQueryMode", "simple");
    config.addDataSourceProperty(
        "options", "-c default_transaction_isolation=serializable -c synchronous_commit=off");
  }

  @Override
  protected String prefix() {
    return "billing_events_";
  }

  /** Nothing is prepared here: beside other builds a settle came later than 300 ms. */
  @Override
  protected Duration shortTime() {
    return Duration.ofMillis(800);
  }

  @Override
  protected LongSupplier workCounter(TestDatabase session) {
    throw new TestAbortedException("skipped: PostgresStoreTest counts the work");
  }

  @Override
  protected int load() {
    return 500;
  }
}
