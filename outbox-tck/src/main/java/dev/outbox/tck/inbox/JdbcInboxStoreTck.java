package dev.outbox.tck.inbox;

import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.tck.AutoCommit;
import dev.outbox.tck.LosesReplies;
import dev.outbox.tck.internal.FaultyConnections;
import dev.outbox.tck.internal.Jdbc;
import java.sql.Connection;
import java.time.Duration;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/**
 * The suite with a fixture for inboxes on JDBC. An inbox of ours needs no more than this:
 *
 * <pre>{@code
 * class MyInboxTest extends JdbcInboxStoreTck {
 *   protected DataSource dataSource() { … }
 *   protected InboxStore<Connection> createStore(DataSource dataSource, Duration retention) {
 *     return PostgresInboxStore.builder(dataSource).prefix(prefix()).retention(retention).build();
 *   }
 * }
 * }</pre>
 *
 * <p>It makes tables whose names begin with {@link #prefix}, empties them before each test, and
 * leaves them. An inbox with tables of another form or name overrides {@link #reset} or {@link
 * #prefix}, and makes them in a {@link BeforeAll} unless it is a {@link SchemaStore}.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class JdbcInboxStoreTck extends InboxStoreTck<Connection>
    implements AutoCommit<Connection>, Retentions<Connection>, LosesReplies {
  private final FaultyConnections faults = new FaultyConnections();

  /** The database, with ten connections or more; called often, and by several threads. */
  protected abstract DataSource dataSource();

  /**
   * One on the same database each time.
   *
   * @param dataSource {@link #dataSource}, with connections that fail when a test wants it
   */
  protected abstract InboxStore<Connection> createStore(DataSource dataSource, Duration retention);

  /** How the names of the tables begin: not as those that an application uses. */
  protected String prefix() {
    return "inbox_tck_";
  }

  /** Makes the tables of a {@link SchemaStore}. */
  @BeforeAll
  protected void start() {
    if (createStore() instanceof SchemaStore store) {
      store.migrate();
    }
  }

  @Override
  protected final InboxStore<Connection> createStore() {
    return createStore(InboxStore.DEFAULT_RETENTION);
  }

  @Override
  public final InboxStore<Connection> createStore(Duration retention) {
    return createStore(faults.of(dataSource()), retention);
  }

  @Override
  protected void inTransaction(Consumer<Connection> work) {
    Jdbc.inTransaction(dataSource(), work);
  }

  @Override
  public void withoutTransaction(Consumer<Connection> work) {
    Jdbc.withoutTransaction(dataSource(), work);
  }

  /** Empties the table of our inboxes. */
  @Override
  protected void reset() {
    execute(named("delete from inbox_message"));
  }

  /** A statement of our inboxes, with the names of the tables as they are here. */
  protected String named(String sql) {
    return sql.replace("inbox_", prefix());
  }

  /** Runs statements as they are, each in a transaction of its own. */
  protected final void execute(String... statements) {
    Jdbc.execute(dataSource(), statements);
  }

  @Override
  public void losingTheReply(Runnable work) {
    faults.losingTheReply(work);
  }
}
