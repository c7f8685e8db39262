package dev.outbox.store.jdbc;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.store.core.internal.Names;
import dev.outbox.tck.AutoCommit;
import dev.outbox.tck.FaultyConnections;
import dev.outbox.tck.LosesReplies;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.SchemaFixture;
import dev.outbox.tck.inbox.InboxStoreTck;
import dev.outbox.tck.inbox.Retentions;
import java.sql.Connection;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/**
 * The TCK of inboxes on a relational database; an inbox of ours adds its server. Statements name
 * the tables with the default prefix.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class JdbcInboxTck extends InboxStoreTck<Connection>
    implements OnServer,
        AutoCommit<Connection>,
        Retentions<Connection>,
        SchemaFixture,
        MovesClock,
        LosesReplies {
  private final Started started = new Started();
  private final FaultyConnections faults = new FaultyConnections();

  protected abstract JdbcInboxStore.Builder<?, ?> builder(DataSource dataSource);

  /** The pool's settings; a variant changes them. */
  protected void configure(HikariConfig config) {}

  /** A statement with the names of the tables as they are here. */
  protected String named(String sql) {
    return sql.replace(Names.INBOX_PREFIX, prefix());
  }

  protected final TestDatabase database() {
    return started.database();
  }

  /** The prefix of the tables' names; a variant changes it. */
  protected String prefix() {
    return Names.INBOX_PREFIX;
  }

  @BeforeAll
  void start() {
    if (started.start(this, this::configure)) {
      store(database().pool).build().migrate();
    }
  }

  @AfterAll
  void stop() {
    started.close();
  }

  private JdbcInboxStore.Builder<?, ?> store(DataSource dataSource) {
    return builder(dataSource).prefix(prefix());
  }

  private void execute(String... statements) {
    database().execute(Arrays.stream(statements).map(this::named).toArray(String[]::new));
  }

  @Override
  protected InboxStore<Connection> createStore() {
    return store(faults.of(database().pool)).build();
  }

  @Override
  public InboxStore<Connection> createStore(Duration retention) {
    return store(database().pool).retention(retention).build();
  }

  @Override
  protected void inTransaction(Consumer<Connection> work) {
    database().inTransaction(false, work);
  }

  @Override
  public void withoutTransaction(Consumer<Connection> work) {
    database().withoutTransaction(work);
  }

  @Override
  protected void reset() {
    execute("delete from inbox_message");
  }

  @Override
  public void dropSchema() {
    database().empty();
  }

  @Override
  public void makeSchemaOlder() {
    execute("update inbox_schema set version = version - 1");
  }

  @Override
  public void makeSchemaNewer() {
    execute("update inbox_schema set version = version + 1");
  }

  @Override
  public void emptyInternalRows() {
    execute("delete from inbox_schema");
  }

  @Override
  public void restoreSchema() {
    dropSchema();
    store(database().pool).build().migrate();
  }

  /** The server's clock cannot be moved, but all times that are compared with it can. */
  @Override
  public void moveClock(Duration by) {
    execute(
        "update inbox_message set lock_until = %s, expires_at = %s"
            .formatted(earlier("lock_until", by.toMillis()), earlier("expires_at", by.toMillis())));
  }

  @Override
  public void losingTheReply(Runnable work) {
    faults.losingTheReply(work);
  }
}
