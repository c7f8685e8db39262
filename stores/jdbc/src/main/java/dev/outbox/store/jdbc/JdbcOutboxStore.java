package dev.outbox.store.jdbc;

import static java.util.Objects.requireNonNull;

import dev.outbox.Appended;
import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.GrantsStore;
import dev.outbox.spi.store.KeepingStore;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.spi.store.KeepingStore.Uncommitted;
import dev.outbox.store.core.ArchivingStore;
import dev.outbox.store.core.internal.Alone;
import dev.outbox.store.core.internal.Engine;
import dev.outbox.store.core.internal.Names;
import dev.outbox.store.core.internal.Retention;
import dev.outbox.store.jdbc.internal.ArchiveSchema;
import dev.outbox.store.jdbc.internal.Grants;
import dev.outbox.store.jdbc.internal.JdbcTransactions;
import dev.outbox.store.jdbc.internal.PoolSize;
import dev.outbox.store.jdbc.internal.Schema;
import dev.outbox.store.jdbc.internal.SqlDialect;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
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
public abstract class JdbcOutboxStore extends ArchivingStore<Connection> implements GrantsStore {
  private final DataSource dataSource;
  private final SqlDialect dialect;
  private final JdbcTransactions transactions;
  private final Schema schema;

  /** Null: there is none. */
  private final @Nullable ArchiveSchema archiveSchema;

  /** Whether what an append needs was found right; a claim looks at the archive too. */
  private volatile boolean mayAppend;

  /** Without an archive: a builder that asks for one is refused. */
  protected JdbcOutboxStore(Builder<?, ?> b, Function<Names, SqlDialect> dialect) {
    this(b, (names, archive) -> dialect.apply(names));
  }

  /**
   * @param dialect takes what the archive keeps, too
   */
  protected JdbcOutboxStore(Builder<?, ?> b, BiFunction<Names, Archive, SqlDialect> dialect) {
    this(
        b.dataSource,
        new Names(b.schema, b.prefix),
        new Retention(b.dedupWindow, b.archive, b.archiveRetention, b.deadLetterRetention),
        names -> dialect.apply(names, b.archive));
  }

  protected JdbcOutboxStore(
      DataSource dataSource,
      Names names,
      Duration dedupWindow,
      Function<Names, SqlDialect> dialect) {
    this(dataSource, names, Retention.of(dedupWindow), dialect);
  }

  private JdbcOutboxStore(
      DataSource dataSource,
      Names names,
      Retention retention,
      Function<Names, SqlDialect> dialect) {
    this(dataSource, names, retention, dialect.apply(names));
  }

  private JdbcOutboxStore(
      DataSource dataSource, Names names, Retention retention, SqlDialect dialect) {
    this(
        dataSource,
        retention,
        dialect,
        new JdbcTransactions(dataSource, dialect, names, Grants.Role.RELAY));
  }

  private JdbcOutboxStore(
      DataSource dataSource,
      Retention retention,
      SqlDialect dialect,
      JdbcTransactions transactions) {
    this(
        dataSource,
        dialect,
        transactions,
        new Engine<>(dialect.database(), transactions, kept(retention, dialect)));
  }

  private static Retention kept(Retention retention, SqlDialect dialect) {
    if (retention.archive() != dialect.archive()) {
      throw new IllegalArgumentException(
          "archive is %s, and the store of %s keeps none: leave it out"
              .formatted(retention.archive(), dialect.name()));
    }
    return retention;
  }

  private JdbcOutboxStore(
      DataSource dataSource,
      SqlDialect dialect,
      JdbcTransactions transactions,
      Engine<Handle> engine) {
    super(engine, Handle::getConnection);
    this.dataSource = dataSource;
    this.transactions = transactions;
    this.dialect = dialect;
    schema = new Schema(dataSource, dialect, transactions.names());
    archiveSchema =
        engine.archive() == Archive.NONE
            ? null
            : ArchiveSchema.of(dataSource, dialect.archiveServer(), transactions.names());
  }

  @Override
  public Appended append(Connection transaction, List<OutboxMessage> messages) {
    return appending(
        transaction,
        messages,
        Set.of(Grants.Role.PRODUCER),
        () -> dialect.append(transaction, messages, dedupWindow()));
  }

  /** For stores that can: {@link KeepingStore#append}. */
  protected final Uncommitted appendToHandOver(
      Keeper keeper, Connection transaction, List<OutboxMessage> messages) {
    List<Alone> alone = new ArrayList<>();
    Appended appended =
        appending(
            transaction,
            messages,
            Set.of(Grants.Role.PRODUCER, Grants.Role.RELAY),
            () -> {
              Optional<List<Alone>> asked =
                  dialect.appendToHandOver(transaction, messages, open(keeper));
              asked.ifPresent(alone::addAll);
              return asked.isPresent()
                  ? Set.of()
                  : dialect.append(transaction, messages, dedupWindow());
            });
    return Uncommitted.of(appended, () -> handOver(keeper, messages.size(), alone));
  }

  private interface Append {
    /** Returns the ids of duplicates. */
    Set<UUID> run() throws SQLException;
  }

  /**
   * @param whose rights it takes
   */
  private Appended appending(
      Connection transaction, List<OutboxMessage> messages, Set<Grants.Role> whose, Append append) {
    try {
      JdbcTransactions.requireTransaction(transaction);
      if (messages.isEmpty()) {
        return Appended.of(messages, Set.of());
      }
      if (!mayAppend && !verified()) {
        schema.check(dialect.schemaVersion(transaction));
        mayAppend = true;
        if (archiveSchema == null) {
          setVerified();
        }
      }
      return Appended.of(messages, append.run());
    } catch (SQLException e) {
      throw transactions.translate(e, whose);
    }
  }

  @Override
  protected void migrateSchema() {
    mayAppend = false;
    schema.migrate(transactions);
    if (archiveSchema != null) {
      archiveSchema.migrate();
    }
  }

  @Override
  public String ddl() {
    return archiveSchema == null ? schema.ddl() : schema.ddl() + "\n" + archiveSchema.ddl();
  }

  @Override
  protected void checkSchema() {
    schema.verify(transactions);
    if (archiveSchema != null) {
      archiveSchema.verify();
    }
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
    private Archive archive = Archive.NONE;
    private Duration archiveRetention = Retention.DEFAULT_ARCHIVED;
    private @Nullable Duration deadLetterRetention;

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
     * What is kept of messages that leave the store (S7), in tables of its own, which {@link
     * JdbcOutboxStore#migrate} makes and {@link JdbcOutboxStore#verify} demands. All stores of one
     * outbox that settle or discard should be told the same. Default: {@link Archive#NONE}.
     */
    public B archive(Archive archive) {
      this.archive = requireNonNull(archive, "archive");
      return self();
    }

    /**
     * How long what is archived is kept at least, at least 1 ms; a database that keeps it by days
     * removes it a day later. Default: 30 days.
     */
    public B archiveRetention(Duration archiveRetention) {
      this.archiveRetention = requireNonNull(archiveRetention, "archiveRetention");
      return self();
    }

    /**
     * How long dead letters are kept, at least 1 ms; then housekeeping removes them, into the
     * archive if there is one. Those that halt their key stay until somebody decides. Default:
     * null, all stay.
     */
    public B deadLetterRetention(@Nullable Duration deadLetterRetention) {
      this.deadLetterRetention = deadLetterRetention;
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
