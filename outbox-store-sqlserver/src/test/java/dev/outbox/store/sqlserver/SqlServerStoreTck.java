package dev.outbox.store.sqlserver;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.Archive;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.store.core.internal.Names;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.jdbc.JdbcStoreTck;
import dev.outbox.store.jdbc.TestDatabase;
import dev.outbox.tck.DeadLetterRetentions;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import javax.sql.DataSource;
import org.opentest4j.TestAbortedException;

/** The TCK on SQL Server; also what {@code ./outbox tck} runs in a user's own database. */
public class SqlServerStoreTck extends JdbcStoreTck implements DeadLetterRetentions<Connection> {

  @Override
  protected DatabaseServer server() {
    return DatabaseServer.sqlServer();
  }

  @Override
  protected TestDatabase database(DatabaseServer server, Consumer<HikariConfig> settings) {
    return new Database(server, settings);
  }

  @Override
  protected JdbcOutboxStore.Builder<?, ?> builder(DataSource dataSource) {
    return SqlServerOutboxStore.builder(dataSource).schema(database().schema());
  }

  /** T-SQL lets no connection choose its schema, so the tables are named with it. */
  @Override
  protected String named(String sql) {
    return sql.replace("outbox_", database().schema() + "." + Names.DEFAULT_PREFIX);
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

  @Override
  protected String earlier(String column, long millis) {
    return "dateadd(millisecond, %d, %s)".formatted(-millis, column);
  }

  @Override
  protected String now() {
    return "sysutcdatetime()";
  }

  @Override
  protected List<String> analyze() {
    return List.of("update statistics outbox_message", "update statistics outbox_blocked_key");
  }

  /** Counts pages; a session sees its own without any right. */
  @Override
  protected LongSupplier workCounter(TestDatabase session) {
    return () -> {
      try {
        return Long.parseLong(
            session.query(
                "select logical_reads from sys.dm_exec_sessions where session_id = @@spid"));
      } catch (RuntimeException e) {
        throw new TestAbortedException("skipped: the server does not count logical reads", e);
      }
    };
  }

  @Override
  protected Object column(UUID id) {
    return id.toString();
  }

  @Override
  protected Object column(Instant time) {
    return LocalDateTime.ofInstant(time, ZoneOffset.UTC);
  }

  @Override
  public AutoCloseable stopInClaim(Claim.Request request) {
    throw stopped();
  }

  @Override
  public AutoCloseable stopInSettle(Claim claim, Map<Long, Decision> decisions) {
    throw stopped();
  }

  private static TestAbortedException stopped() {
    return new TestAbortedException(
        "skipped: SQL Server ends no transaction because its client is silent, see docs/design/sqlserver.md");
  }
}
