package dev.outbox.store.jdbc;

import com.zaxxer.hikari.HikariConfig;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** A store of ours, and where its tests have a database. */
public interface TestedStore {

  /**
   * A schema of its own, on a server that all test classes of a module share: it ends with the JVM.
   *
   * @param settings changes the pool's settings
   */
  TestDatabase database(Consumer<HikariConfig> settings);

  JdbcOutboxStore.Builder<?, ?> builder(DataSource dataSource);

  /** The inbox on the same database. */
  JdbcInboxStore.Builder<?, ?> inbox(DataSource dataSource);
}
