package dev.outbox.store.mysql;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.store.jdbc.TestDatabase;
import java.util.function.LongSupplier;
import org.opentest4j.TestAbortedException;

/**
 * The TCK once more on MariaDB, with all that its driver can be told to do otherwise: batches in
 * bulk, statements prepared on the server, rows counted that changed.
 */
class MariadbVariantTest extends MariadbStoreTck {

  @Override
  protected void configure(HikariConfig config) {
    config.setAutoCommit(false);
    config.addDataSourceProperty("useBulkStmts", "true");
    config.addDataSourceProperty("useServerPrepStmts", "true");
    config.addDataSourceProperty("useAffectedRows", "true");
  }

  @Override
  protected int load() {
    return 500;
  }

  @Override
  protected LongSupplier workCounter(TestDatabase session) {
    throw new TestAbortedException("skipped: MariadbStoreTest counts the work");
  }

  @Override
  public void killServer() {
    throw new TestAbortedException("skipped: MariadbStoreTest kills the server");
  }
}
