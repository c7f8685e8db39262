package dev.outbox.store.mysql;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.Archive;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.jdbc.JdbcStoreTck;
import dev.outbox.store.jdbc.TestDatabase;
import dev.outbox.tck.DeadLetterRetentions;
import dev.outbox.tck.ReadOnlyTransactions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import javax.sql.DataSource;

/** The TCK on MySQL; also what {@code ./outbox tck} runs in a user's own database. */
public class MysqlStoreTck extends JdbcStoreTck
    implements ReadOnlyTransactions<Connection>, DeadLetterRetentions<Connection> {
  private static final int LOCK_WAIT_TIMEOUT = 1205;
  private static final int TRIES = 60;

  @Override
  protected DatabaseServer server() {
    return DatabaseServer.mysql();
  }

  @Override
  protected TestDatabase database(DatabaseServer server, Consumer<HikariConfig> settings) {
    return new Database(server, settings);
  }

  @Override
  protected JdbcOutboxStore.Builder<?, ?> builder(DataSource dataSource) {
    return MysqlOutboxStore.builder(dataSource);
  }

  @Override
  public void inReadOnlyTransaction(Consumer<Connection> work) {
    database().inTransaction(true, work);
  }

  @Override
  protected List<String> emptyMessages() {
    return List.of(
        "delete from outbox_message",
        "delete from outbox_blocked_key",
        "delete from outbox_dedup",
        "delete from outbox_archive_message",
        "delete from outbox_archive_audit");
  }

  @Override
  protected Archive archive() {
    return Archive.FULL;
  }

  @Override
  public OutboxStore<Connection> createStore(Archive archive) {
    return archiving(archive);
  }

  @Override
  public OutboxStore<Connection> createStore(Archive archive, Duration deadLetterRetention) {
    return archiving(archive, deadLetterRetention);
  }

  /** MariaDB waits 0.7 s for its purge to leave the table, and then refuses. */
  @Override
  public void restartSequences() {
    for (int attempt = 1; ; attempt++) {
      try {
        super.restartSequences();
        return;
      } catch (IllegalStateException e) {
        if (attempt == TRIES
            || !(e.getCause() instanceof SQLException refused)
            || refused.getErrorCode() != LOCK_WAIT_TIMEOUT) {
          throw e;
        }
      }
    }
  }

  @Override
  protected String earlier(String column, long millis) {
    return "%s - interval %d microsecond".formatted(column, millis * 1_000);
  }

  @Override
  protected String now() {
    return "utc_timestamp(6)";
  }

  /** A delayed message lies at its time. */
  @Override
  protected String computed() {
    return ", place = default";
  }

  @Override
  protected List<String> analyze() {
    return List.of("analyze table outbox_message, outbox_blocked_key");
  }

  /** Counts the rows and index entries that the session's statements have looked at. */
  @Override
  protected LongSupplier workCounter(TestDatabase session) {
    return new RowsRead(session)::total;
  }

  @Override
  protected Object column(UUID id) {
    return id.toString();
  }

  @Override
  protected Object column(Instant time) {
    return LocalDateTime.ofInstant(time, ZoneOffset.UTC);
  }
}
