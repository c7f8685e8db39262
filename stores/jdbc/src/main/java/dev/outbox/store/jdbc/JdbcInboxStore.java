package dev.outbox.store.jdbc;

import dev.outbox.Texts;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Fingerprint;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.store.core.internal.InboxLock;
import dev.outbox.store.core.internal.InboxTaking;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.jdbc.internal.Grants;
import dev.outbox.store.jdbc.internal.InboxTable;
import dev.outbox.store.jdbc.internal.InboxTable.Change;
import dev.outbox.store.jdbc.internal.InboxTable.Entry;
import dev.outbox.store.jdbc.internal.InboxTexts;
import dev.outbox.store.jdbc.internal.JdbcTransactions;
import dev.outbox.store.jdbc.internal.Schema;
import dev.outbox.store.jdbc.internal.Server;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The inbox on a relational database. Use the one of your database; this is the type to name where
 * any of them may come.
 *
 * <p>What is stored, in tables whose names begin with the prefix:
 *
 * <pre>{@code
 * inbox_message   consumer, message_id              the key
 *                 state                             STARTED, FAILED or DONE
 *                 token, lock_until                 whose the lock is, until when
 *                 attempts, fingerprint
 *                 content_type, result              when it was completed
 *                 last_error                        for people
 *                 expires_at                        from when on it may be forgotten
 * inbox_schema    version
 * }</pre>
 *
 * <p>A row expires a retention after it was done, after its lock ends, or after its release; so one
 * with a live lock never has (I8). docs/design/inbox.md has the statements' protocol.
 *
 * <p>{@code firstTime} and {@code complete} with a transaction work on the caller's connection.
 * Everything else takes connections from the data source, one at a time for each call, and needs no
 * setting of them.
 */
public abstract class JdbcInboxStore implements InboxStore<Connection>, SchemaStore {

  /**
   * After this long without a sign of the client the database ends a transaction; and this long a
   * statement waits for another transaction, before it is run again.
   */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final Server server;
  private final Duration retention;
  private final InboxTable table;
  private final JdbcTransactions transactions;
  private final JdbcTransactions housekeeping;
  private final Schema schema;
  private volatile boolean verified;

  protected JdbcInboxStore(
      Builder<?, ?> b, Function<PrefixedNames, Server> server, InboxTexts texts) {
    this.server = server.apply(b.names());
    DataSource dataSource = b.dataSource;
    this.retention = InboxStore.checkedRetention(b.retention);
    table = new InboxTable(this.server, texts);
    transactions = new JdbcTransactions(dataSource, this.server, Grants.Role.CONSUMER);
    housekeeping = new JdbcTransactions(dataSource, this.server, Grants.Role.HOUSEKEEPER);
    schema = new Schema(dataSource, transactions);
  }

  private interface Work<R extends @Nullable Object> {
    R on(Connection connection) throws SQLException;
  }

  /** In the caller's transaction. */
  private <R> R joining(Connection transaction, Work<R> work) {
    try {
      JdbcTransactions.requireTransaction(transaction);
      if (!verified) {
        schema.verify(transaction);
        verified = true;
      }
      server.check(transaction);
      return work.on(transaction);
    } catch (SQLException e) {
      throw transactions.translate(e);
    }
  }

  /** In one of the store's own. */
  private <R> R own(JdbcTransactions by, Work<R> work) {
    if (!verified) {
      verify();
    }
    return by.runSql(PATIENCE, handle -> work.on(handle.getConnection()));
  }

  // ---- consumers

  @Override
  public boolean firstTime(Connection transaction, InboxKey key) {
    Change recorded = Change.recorded(retention);
    return joining(transaction, connection -> taking(connection, key, recorded).firstTime(key));
  }

  @Override
  public Begin<Connection> begin(InboxKey key, Duration lock, Fingerprint fingerprint) {
    Duration checked = InboxStore.checkedLock(lock);
    String token = UUID.randomUUID().toString();
    Change started = Change.started(token, checked, fingerprint, retention);
    return own(
        transactions,
        connection ->
            taking(connection, key, started)
                .begin(key, fingerprint, attempts -> new JdbcLock(key, token, attempts)));
  }

  private InboxTaking<Entry, SQLException> taking(Connection connection, InboxKey key, Change to) {
    return new InboxTaking<>() {
      @Override
      public boolean insert() throws SQLException {
        return table.insert(connection, key, to);
      }

      @Override
      public @Nullable Entry find() throws SQLException {
        return table.find(connection, key);
      }

      @Override
      public boolean takeOver(Entry found) throws SQLException {
        return table.takeOver(connection, key, found, to);
      }
    };
  }

  private final class JdbcLock extends InboxLock<Connection> {
    private final String token;

    JdbcLock(InboxKey key, String token, int attempts) {
      super(key, attempts);
      this.token = token;
    }

    @Override
    public boolean renew(Duration lock) {
      Change renewed = Change.renewed(token, InboxStore.checkedLock(lock), retention);
      return own(transactions, connection -> table.change(connection, key, token, renewed));
    }

    @Override
    public boolean complete(InboxResult result) {
      Change completed = Change.completed(token, result, retention);
      return own(transactions, connection -> end(connection, completed));
    }

    @Override
    public boolean complete(Connection transaction, InboxResult result) {
      Change completed = Change.completed(token, result, retention);
      return joining(transaction, connection -> end(connection, completed));
    }

    @Override
    public boolean release(String error) {
      Change released = Change.released(token, Texts.clean(error), retention);
      return own(transactions, connection -> end(connection, released));
    }

    /** Says true also when this lock did the same before. */
    private boolean end(Connection connection, Change to) throws SQLException {
      if (table.change(connection, key, token, to)) {
        return true;
      }
      Entry entry = table.find(connection, key);
      return entry != null && entry.is(to.state(), token);
    }
  }

  // ---- housekeeping

  @Override
  public void housekeep() {
    // In small transactions, so that nobody waits for long for a key that is being purged.
    while (!Thread.currentThread().isInterrupted()
        && own(housekeeping, table::purge) == InboxTable.PURGE) {}
  }

  @Override
  public InboxStatistics statistics(int cap) {
    int checked = StatisticsStore.checked(cap);
    return own(housekeeping, connection -> table.statistics(connection, checked));
  }

  // ---- the schema

  @Override
  public void migrate() {
    schema.migrate();
    verified = false;
  }

  @Override
  public String ddl() {
    return schema.ddl();
  }

  @Override
  public void verify() {
    schema.verify();
    verified = true;
  }

  @Override
  public String place() {
    return schema.place();
  }

  @Override
  public String grants(String consumer, String housekeeper) {
    return transactions
        .grants()
        .text(Map.of(Grants.Role.CONSUMER, consumer, Grants.Role.HOUSEKEEPER, housekeeper));
  }

  /**
   * The settings that all relational inboxes have. Not safe for use by many threads.
   *
   * @param <S> what it builds
   * @param <B> itself
   */
  public abstract static class Builder<S extends JdbcInboxStore, B extends Builder<S, B>>
      extends JdbcBuilder<S, B> {
    private Duration retention = DEFAULT_RETENTION;

    protected Builder(DataSource dataSource, Function<B, S> build) {
      super(dataSource, PrefixedNames.INBOX_PREFIX, build);
    }

    /**
     * How long a key is remembered after it was done, at least 1 ms; longer than any message may
     * take to arrive again. Default: 7 days.
     */
    public B retention(Duration retention) {
      this.retention = retention;
      return self();
    }
  }

  /**
   * Of a database that needs no settings of its own. Not safe for use by many threads.
   *
   * @param <S> what it builds
   */
  public static final class PlainBuilder<S extends JdbcInboxStore>
      extends Builder<S, PlainBuilder<S>> {

    /**
     * @param build makes the store, from this
     */
    public PlainBuilder(DataSource dataSource, Function<PlainBuilder<S>, S> build) {
      super(dataSource, build);
    }
  }
}
