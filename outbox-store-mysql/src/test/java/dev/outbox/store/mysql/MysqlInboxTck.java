package dev.outbox.store.mysql;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.JdbcInboxTck;
import dev.outbox.store.jdbc.TestDatabase;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** The TCK of inboxes on MySQL; also what {@code ./outbox tck} runs in a user's own database. */
public class MysqlInboxTck extends JdbcInboxTck {

  @Override
  protected DatabaseServer server() {
    return DatabaseServer.mysql();
  }

  @Override
  protected TestDatabase database(DatabaseServer server, Consumer<HikariConfig> settings) {
    return new Database(server, settings);
  }

  @Override
  protected JdbcInboxStore.Builder<?, ?> builder(DataSource dataSource) {
    return MysqlInboxStore.builder(dataSource);
  }

  @Override
  protected String earlier(String column, long millis) {
    return "%s - interval %d microsecond".formatted(column, millis * 1_000);
  }
}
