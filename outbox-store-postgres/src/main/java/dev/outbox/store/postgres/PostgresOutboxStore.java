package dev.outbox.store.postgres;

import static java.util.Objects.requireNonNull;

import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.jdbc.Names;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The outbox on PostgreSQL 14 and newer. The algorithm is {@link JdbcOutboxStore}'s, the statements
 * are in {@code PostgresStatements}, the tables in {@code changelog.sql} beside this class.
 *
 * <p>Append works on the caller's connection. Everything else takes connections from the data
 * source, one at a time for each call, and needs no setting of them: also auto-commit off, another
 * isolation level, {@code synchronous_commit = off}, or PgBouncer in transaction mode.
 */
public final class PostgresOutboxStore extends JdbcOutboxStore {
  private final Names names;

  private PostgresOutboxStore(Builder b, Names names) {
    super(b.dataSource, new PostgresDialect(names), names, b.dedupWindow);
    this.names = names;
  }

  /** A store with the default names, for relays and for appending. */
  public static PostgresOutboxStore of(DataSource dataSource) {
    return builder(dataSource).build();
  }

  /** Starts with the defaults that each setter names. */
  public static Builder builder(DataSource dataSource) {
    return new Builder(dataSource);
  }

  /**
   * The statements that let one role append and nothing else, and another be a relay. Both also
   * need USAGE on the schema.
   *
   * @param producer a plain role name
   * @param relay a plain role name
   */
  public String grants(String producer, String relay) {
    return names
        .fill(Names.resource(PostgresOutboxStore.class, "grants.sql"))
        .replace("${producer}", Names.plain("producer", producer))
        .replace("${relay}", Names.plain("relay", relay));
  }

  /** Not safe for use by many threads. */
  public static final class Builder {
    private final DataSource dataSource;
    private @Nullable String schema;
    private String prefix = Names.DEFAULT_PREFIX;
    private Duration dedupWindow = DEFAULT_DEDUP_WINDOW;

    private Builder(DataSource dataSource) {
      this.dataSource = requireNonNull(dataSource, "dataSource");
    }

    /** Default: null, the connection's current schema. */
    public Builder schema(@Nullable String schema) {
      this.schema = schema;
      return this;
    }

    /** Before each table's name. Default: {@value Names#DEFAULT_PREFIX}. */
    public Builder prefix(String prefix) {
      this.prefix = prefix;
      return this;
    }

    /** How long a dedup key is remembered, at least 1 ms. Default: 7 days. */
    public Builder dedupWindow(Duration dedupWindow) {
      this.dedupWindow = dedupWindow;
      return this;
    }

    /**
     * Does not connect yet.
     *
     * @throws IllegalArgumentException naming the setting, its value and what is allowed
     */
    public PostgresOutboxStore build() {
      return new PostgresOutboxStore(this, new Names(schema, prefix));
    }
  }
}
