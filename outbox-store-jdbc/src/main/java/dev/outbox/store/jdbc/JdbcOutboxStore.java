package dev.outbox.store.jdbc;

import static java.util.Objects.requireNonNull;

import dev.outbox.Appended;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.GrantsStore;
import dev.outbox.store.core.BucketStore;
import dev.outbox.store.core.internal.Engine;
import dev.outbox.store.core.internal.Names;
import dev.outbox.store.jdbc.internal.Grants;
import dev.outbox.store.jdbc.internal.JdbcTransactions;
import dev.outbox.store.jdbc.internal.PoolSize;
import dev.outbox.store.jdbc.internal.Schema;
import dev.outbox.store.jdbc.internal.SqlDialect;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A store on a relational database, in which a bucket and a blocked key is a row, a claim and a
 * settle are one transaction each, and the database computes a key's bucket. Use the store of your
 * database; this is the type to name where any of them may come.
 */
public abstract class JdbcOutboxStore extends BucketStore<Connection> implements GrantsStore {
  private final DataSource dataSource;
  private final SqlDialect dialect;
  private final JdbcTransactions transactions;
  private final Schema schema;

  protected JdbcOutboxStore(Builder<?, ?> b, Function<Names, SqlDialect> dialect) {
    this(b.dataSource, new Names(b.schema, b.prefix), b.dedupWindow, dialect);
  }

  protected JdbcOutboxStore(
      DataSource dataSource,
      Names names,
      Duration dedupWindow,
      Function<Names, SqlDialect> dialect) {
    this(dataSource, names, dedupWindow, dialect.apply(names));
  }

  private JdbcOutboxStore(
      DataSource dataSource, Names names, Duration dedupWindow, SqlDialect dialect) {
    this(
        dataSource,
        dedupWindow,
        dialect,
        new JdbcTransactions(dataSource, dialect, names, Grants.Role.RELAY));
  }

  private JdbcOutboxStore(
      DataSource dataSource,
      Duration dedupWindow,
      SqlDialect dialect,
      JdbcTransactions transactions) {
    super(new Engine<>(dialect.database(), transactions, dedupWindow));
    this.dataSource = dataSource;
    this.transactions = transactions;
    this.dialect = dialect;
    schema = new Schema(dataSource, dialect, transactions.names());
  }

  @Override
  public Appended append(Connection transaction, List<OutboxMessage> messages) {
    try {
      JdbcTransactions.requireTransaction(transaction);
      if (messages.isEmpty()) {
        return Appended.of(messages, Set.of());
      }
      if (!verified()) {
        schema.check(dialect.schemaVersion(transaction));
        setVerified();
      }
      return Appended.of(messages, dialect.append(transaction, messages, dedupWindow()));
    } catch (SQLException e) {
      throw transactions.translate(e, Grants.Role.PRODUCER);
    }
  }

  @Override
  protected void migrateSchema() {
    schema.migrate(transactions);
  }

  @Override
  public String ddl() {
    return schema.ddl();
  }

  @Override
  protected void checkSchema() {
    schema.verify(transactions);
  }

  @Override
  public String place() {
    return schema.place(transactions);
  }

  @Override
  public OptionalInt maxConnections() {
    return PoolSize.of(dataSource);
  }

  @Override
  public final String grants(String producer, String relay) {
    return transactions
        .grants()
        .text(Map.of(Grants.Role.PRODUCER, producer, Grants.Role.RELAY, relay));
  }

  /**
   * The settings that all relational stores have. Not safe for use by many threads.
   *
   * @param <S> what it builds
   * @param <B> itself
   */
  public abstract static class Builder<S extends JdbcOutboxStore, B extends Builder<S, B>> {
    private final DataSource dataSource;
    private @Nullable String schema;
    private String prefix = Names.DEFAULT_PREFIX;
    private Duration dedupWindow = DEFAULT_DEDUP_WINDOW;

    protected Builder(DataSource dataSource) {
      this.dataSource = requireNonNull(dataSource, "dataSource");
    }

    /** Default: null, the connection's current schema. */
    public B schema(@Nullable String schema) {
      this.schema = schema;
      return self();
    }

    /** Before each table's name. Default: {@value Names#DEFAULT_PREFIX}. */
    public B prefix(String prefix) {
      this.prefix = prefix;
      return self();
    }

    /** How long a dedup key is remembered, at least 1 ms. Default: 7 days. */
    public B dedupWindow(Duration dedupWindow) {
      this.dedupWindow = dedupWindow;
      return self();
    }

    /**
     * Does not connect yet.
     *
     * @throws IllegalArgumentException naming the setting, its value and what is allowed
     */
    public abstract S build();

    protected abstract B self();
  }
}
