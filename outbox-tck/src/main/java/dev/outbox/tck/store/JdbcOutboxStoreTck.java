package dev.outbox.tck.store;

import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.tck.AutoCommit;
import dev.outbox.tck.BreaksConnections;
import dev.outbox.tck.LosesReplies;
import dev.outbox.tck.internal.FaultyConnections;
import dev.outbox.tck.internal.Jdbc;
import java.sql.Connection;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/**
 * The suite with a fixture for stores on JDBC. A store of ours needs no more than this:
 *
 * <pre>{@code
 * class MyDatabaseTest extends JdbcOutboxStoreTck {
 *   protected DataSource dataSource() { … }
 *   protected OutboxStore<Connection> createStore(DataSource dataSource) {
 *     return PostgresOutboxStore.builder(dataSource).prefix(prefix()).build();
 *   }
 * }
 * }</pre>
 *
 * <p>It makes tables whose names begin with {@link #prefix}, empties them before each test, and
 * leaves them. A store with tables of another form overrides {@link #reset}, and makes them in a
 * {@link BeforeAll} unless it is a {@link SchemaStore}.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class JdbcOutboxStoreTck extends OutboxStoreTck<Connection>
    implements AutoCommit<Connection>, LosesReplies, BreaksConnections {
  private final FaultyConnections faults = new FaultyConnections();

  /** The database, with ten connections or more; called often, and by several threads. */
  protected abstract DataSource dataSource();

  /**
   * One on the same database each time.
   *
   * @param dataSource {@link #dataSource}, with connections that fail when a test wants it
   */
  protected abstract OutboxStore<Connection> createStore(DataSource dataSource);

  /** How the names of the tables begin: not as those that an application uses. */
  protected String prefix() {
    return "outbox_tck_";
  }

  /** Makes the tables of a {@link SchemaStore}. */
  @BeforeAll
  protected void start() {
    if (createStore(dataSource()) instanceof SchemaStore store) {
      store.migrate();
    }
  }

  @Override
  protected final OutboxStore<Connection> createStore() {
    return createStore(faulty());
  }

  /** {@link #dataSource}, with connections that fail when a test wants it. */
  protected final DataSource faulty() {
    return faults.of(dataSource());
  }

  @Override
  protected void inTransaction(Consumer<Connection> work) {
    Jdbc.inTransaction(dataSource(), work);
  }

  @Override
  public void withoutTransaction(Consumer<Connection> work) {
    Jdbc.withoutTransaction(dataSource(), work);
  }

  /** Empties the tables of our stores. */
  @Override
  protected void reset() {
    Stream<String> leases =
        Stream.of(
            "update outbox_bucket set claim_id = null, leased_at = null, lease_until = null,"
                + " takeovers = 0, singles = 0");
    execute(
        Stream.concat(emptyMessages().stream(), leases).map(this::named).toArray(String[]::new));
  }

  /** Statements that empty the tables of our stores, but for the buckets. */
  protected List<String> emptyMessages() {
    return List.of(
        "delete from outbox_message",
        "delete from outbox_blocked_key",
        "delete from outbox_dedup",
        "delete from outbox_pause");
  }

  /** A statement of our stores, with the names of the tables as they are here. */
  protected String named(String sql) {
    return sql.replace("outbox_", prefix());
  }

  /** Runs statements as they are, each in a transaction of its own. */
  protected final void execute(String... statements) {
    Jdbc.execute(dataSource(), statements);
  }

  @Override
  public void losingTheReply(Runnable work) {
    faults.losingTheReply(work);
  }

  @Override
  public boolean breakingAtWrite(int write, Runnable work) {
    return faults.breakingAtWrite(write, work);
  }
}
