package dev.outbox.store.jdbc;

import static java.util.Objects.requireNonNull;

import dev.outbox.Appended;
import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.KeepingStore;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.spi.store.KeepingStore.Uncommitted;
import dev.outbox.spi.store.StoreProvider.History;
import dev.outbox.store.core.BucketStore;
import dev.outbox.store.core.internal.AppendReport;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.core.internal.RelayClaims;
import dev.outbox.store.core.internal.StoreOperations;
import dev.outbox.store.jdbc.internal.Grants;
import dev.outbox.store.jdbc.internal.JdbcTransactions;
import dev.outbox.store.jdbc.internal.PoolSize;
import dev.outbox.store.jdbc.internal.Schema;
import dev.outbox.store.jdbc.internal.Server;
import dev.outbox.store.jdbc.internal.SqlDialect;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * A store on a relational database, in which a bucket and a blocked key is a row, a claim and a
 * settle are one transaction each, and the database computes a key's bucket. Use the store of your
 * database; this is the type to name where any of them may come.
 */
public abstract class JdbcOutboxStore extends BucketStore<Connection> {
  private final DataSource dataSource;
  private final SqlDialect dialect;
  private final JdbcTransactions transactions;
  private final Schema schema;

  /** Null: there is none. */
  private final @Nullable Schema archive;

  /** Whether the tables that an append needs were found right; a claim needs the archive's too. */
  private volatile boolean mayAppend;

  /**
   * @param dialect makes the dialect of these names, and of what the archive keeps
   */
  protected JdbcOutboxStore(
      Builder<?, ?> b, BiFunction<PrefixedNames, Archive, SqlDialect> dialect) {
    this(b, dialect.apply(b.names(), b.history.archive()));
  }

  private JdbcOutboxStore(Builder<?, ?> b, SqlDialect dialect) {
    this(b, dialect, transactions(b.dataSource, dialect.server()));
  }

  private JdbcOutboxStore(Builder<?, ?> b, SqlDialect dialect, JdbcTransactions transactions) {
    super(
        new StoreOperations<>(dialect.database(), transactions, b.dedupWindow, b.history),
        Handle::getConnection);
    dataSource = b.dataSource;
    this.transactions = transactions;
    this.dialect = dialect;
    schema = new Schema(dataSource, transactions);
    archive =
        dialect.archive() == null
            ? null
            : new Schema(dataSource, transactions(dataSource, dialect.archive()));
  }

  private static JdbcTransactions transactions(DataSource dataSource, Server server) {
    return new JdbcTransactions(dataSource, server, Grants.Role.RELAY);
  }

  @Override
  public Appended append(Connection transaction, List<OutboxMessage> messages) {
    return appending(
        transaction,
        messages,
        Set.of(Grants.Role.PRODUCER),
        () -> dialect.append().append(transaction, messages, dedupWindow()));
  }

  /** For stores that can: {@link KeepingStore#append}. */
  protected final Uncommitted appendToHandOver(
      Keeper keeper, Connection transaction, List<OutboxMessage> messages) {
    if (!(keeper instanceof RelayClaims<?> claims)) {
      return Uncommitted.of(append(transaction, messages));
    }
    AtomicReference<AppendReport> report = new AtomicReference<>(AppendReport.NOTHING);
    Appended appended =
        appending(
            transaction,
            messages,
            Set.of(Grants.Role.PRODUCER, Grants.Role.RELAY),
            () -> {
              Optional<List<Lease>> open = claims.open();
              Optional<AppendReport> asked =
                  open.isEmpty()
                      ? Optional.empty()
                      : dialect.append().appendToHandOver(transaction, messages, open.get());
              asked.ifPresent(report::set);
              return asked.isPresent()
                  ? Set.of()
                  : dialect.append().append(transaction, messages, dedupWindow());
            });
    int count = messages.size();
    AppendReport said = requireNonNull(report.get());
    return Uncommitted.of(appended, () -> claims.committed(count, said));
  }

  private interface Work {
    /** Returns the ids of duplicates. */
    Set<UUID> run() throws SQLException;
  }

  /**
   * Checks the caller's transaction and the schema, then appends.
   *
   * @param whose who needs the rights that it takes, for the error that says which are missing
   */
  private Appended appending(
      Connection transaction, List<OutboxMessage> messages, Set<Grants.Role> whose, Work work) {
    try {
      JdbcTransactions.requireTransaction(transaction);
      if (messages.isEmpty()) {
        return Appended.of(messages, Set.of());
      }
      if (!mayAppend) {
        schema.verify(transaction);
        mayAppend = true;
      }
      dialect.server().check(transaction);
      return Appended.of(messages, work.run());
    } catch (SQLException e) {
      throw transactions.translate(e, whose);
    }
  }

  @Override
  protected void migrateSchema() {
    mayAppend = false;
    schema.migrate();
    if (archive != null) {
      archive.migrate();
    }
  }

  @Override
  public String ddl() {
    return archive == null ? schema.ddl() : schema.ddl() + "\n" + archive.ddl();
  }

  @Override
  protected void checkSchema() {
    schema.verify();
    mayAppend = true;
    if (archive != null) {
      archive.verify();
    }
  }

  @Override
  public String place() {
    return schema.place();
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

  @Override
  public final Optional<List<String>> missingGrants() {
    return schema.missingGrants();
  }

  /**
   * The settings that all relational stores have. Not safe for use by many threads.
   *
   * @param <S> what it builds
   * @param <B> itself
   */
  public abstract static class Builder<S extends JdbcOutboxStore, B extends Builder<S, B>>
      extends JdbcBuilder<S, B> {
    private Duration dedupWindow = DEFAULT_DEDUP_WINDOW;
    private History history = History.NONE;

    protected Builder(DataSource dataSource, Function<B, S> build) {
      super(dataSource, PrefixedNames.DEFAULT_PREFIX, build);
    }

    /** How long a dedup key is remembered, at least 1 ms. Default: 7 days. */
    public B dedupWindow(Duration dedupWindow) {
      this.dedupWindow = dedupWindow;
      return self();
    }

    /**
     * What is kept of messages that leave the store (S7), in tables of its own, which {@link
     * JdbcOutboxStore#migrate} makes and {@link JdbcOutboxStore#verify} demands. All stores of one
     * outbox that settle or discard should be told the same. Default: {@link Archive#NONE}.
     */
    public B archive(Archive archive) {
      requireNonNull(archive, "archive");
      return history(new History(archive, history.retention(), history.deadLetters()));
    }

    /**
     * How long what is archived is kept at least, at least 1 ms; a database that keeps it by days
     * removes it a day later. Default: 30 days.
     */
    public B archiveRetention(Duration archiveRetention) {
      requireNonNull(archiveRetention, "archiveRetention");
      return history(new History(history.archive(), archiveRetention, history.deadLetters()));
    }

    /**
     * How long dead letters are kept, at least 1 ms; then housekeeping removes them, into the
     * archive if there is one. Those that halt their key stay until somebody decides. Default:
     * null, all stay.
     */
    public B deadLetterRetention(@Nullable Duration deadLetterRetention) {
      return history(new History(history.archive(), history.retention(), deadLetterRetention));
    }

    /** All three. */
    B history(History history) {
      this.history = history;
      return self();
    }
  }

  /**
   * Of a database that needs no settings of its own. Not safe for use by many threads.
   *
   * @param <S> what it builds
   */
  public static final class PlainBuilder<S extends JdbcOutboxStore>
      extends Builder<S, PlainBuilder<S>> {

    /**
     * @param build makes the store, from this
     */
    public PlainBuilder(DataSource dataSource, Function<PlainBuilder<S>, S> build) {
      super(dataSource, build);
    }
  }
}
