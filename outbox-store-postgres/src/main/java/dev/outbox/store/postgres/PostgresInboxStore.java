package dev.outbox.store.postgres;

import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.internal.TableKind;
import java.sql.Connection;
import javax.sql.DataSource;
import org.postgresql.core.TransactionState;

/**
 * The inbox on PostgreSQL 14 and newer; {@link JdbcInboxStore} says what is stored, and how.
 *
 * <p>In a caller's transaction at REPEATABLE READ or SERIALIZABLE a key that another recorded since
 * the transaction's snapshot is a {@link dev.outbox.TransientOutboxException}: run it again. Behind
 * PgBouncer the driver needs {@code prepareThreshold=0} ({@link Builder#poolerKeepsSessions}).
 */
public final class PostgresInboxStore extends JdbcInboxStore {

  private PostgresInboxStore(Builder b) {
    super(
        b,
        names -> new PostgresServer(names, TableKind.INBOX, new Pooler(b.poolerKeepsSessions)),
        PostgresInboxTexts.TEXTS);
  }

  /** An inbox with the default names. */
  public static PostgresInboxStore of(DataSource dataSource) {
    return builder(dataSource).build();
  }

  /** Starts with the defaults that each setter names. */
  public static Builder builder(DataSource dataSource) {
    return new Builder(dataSource);
  }

  @Override
  public boolean hasFailed(Connection transaction) {
    return Pooler.transactionState(transaction)
        .filter(state -> state == TransactionState.FAILED)
        .isPresent();
  }

  /** Not safe for use by many threads. */
  public static final class Builder extends JdbcInboxStore.Builder<PostgresInboxStore, Builder> {
    private boolean poolerKeepsSessions;

    private Builder(DataSource dataSource) {
      super(dataSource, PostgresInboxStore::new);
    }

    /** As {@link PostgresOutboxStore.Builder#poolerKeepsSessions}. */
    public Builder poolerKeepsSessions() {
      poolerKeepsSessions = true;
      return this;
    }
  }
}
