package dev.outbox.store.jdbc;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.store.core.internal.Names;
import dev.outbox.tck.AutoCommit;
import dev.outbox.tck.FaultyConnections;
import dev.outbox.tck.InboxStoreTck;
import dev.outbox.tck.LosesReplies;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.Retentions;
import dev.outbox.tck.SchemaFixture;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.opentest4j.TestAbortedException;

/**
 * The TCK of inboxes on a relational database; an inbox of ours adds its server. Statements name
 * the tables with the default prefix.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class JdbcInboxTck extends InboxStoreTck<Connection>
    implements AutoCommit<Connection>,
        Retentions<Connection>,
        SchemaFixture,
        MovesClock,
        LosesReplies {
  private DatabaseServer server;
  private TestAbortedException noServer;
  private TestDatabase database;
  private final FaultyConnections faults = new FaultyConnections();

  /** The server to run against. */
  protected abstract DatabaseServer server();

  /** A schema of its own. */
  protected abstract TestDatabase database(DatabaseServer server, Consumer<HikariConfig> settings);

  protected abstract JdbcInboxStore.Builder<?, ?> builder(DataSource dataSource);

  /** An expression for a column of the table, some milliseconds earlier. */
  protected abstract String earlier(String column, long millis);

  /** The pool's settings; a variant changes them. */
  protected void configure(HikariConfig config) {}

  /** A statement with the names of the tables as they are here. */
  protected String named(String sql) {
    return sql.replace(Names.INBOX_PREFIX, prefix());
  }

  protected final TestDatabase database() {
    return database;
  }

  /** The prefix of the tables' names; a variant changes it. */
  protected String prefix() {
    return Names.INBOX_PREFIX;
  }

  @BeforeAll
  void start() {
    try {
      server = server();
    } catch (TestAbortedException e) {
      noServer = e;
      return;
    }
    database = database(server, this::configure);
    store(database.pool).build().migrate();
  }

  @AfterAll
  void stop() {
    if (database != null) {
      database.close();
    }
    if (server != null) {
      server.close();
    }
  }

  private JdbcInboxStore.Builder<?, ?> store(DataSource dataSource) {
    return builder(dataSource).prefix(prefix());
  }

  private void execute(String... statements) {
    database.execute(Arrays.stream(statements).map(this::named).toArray(String[]::new));
  }

  @Override
  protected InboxStore<Connection> createStore() {
    return store(faults.of(database.pool)).build();
  }

  @Override
  public InboxStore<Connection> createStore(Duration retention) {
    return store(database.pool).retention(retention).build();
  }

  @Override
  protected void inTransaction(Consumer<Connection> work) {
    database.inTransaction(false, work);
  }

  @Override
  public void withoutTransaction(Consumer<Connection> work) {
    try (Connection connection = database.pool.getConnection()) {
      connection.setAutoCommit(true);
      work.accept(connection);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Each test is skipped with the reason when there is no server: reports list them. */
  @Override
  protected void reset() {
    if (noServer != null) {
      throw noServer;
    }
    execute("delete from inbox_message");
  }

  @Override
  public void dropSchema() {
    database.empty();
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
    store(database.pool).build().migrate();
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
