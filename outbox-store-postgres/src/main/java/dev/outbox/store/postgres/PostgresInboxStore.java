package dev.outbox.store.postgres;

import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.internal.TableKind;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.postgresql.core.BaseConnection;
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
    try {
      return transaction.unwrap(BaseConnection.class).getTransactionState()
          == TransactionState.FAILED;
    } catch (SQLException e) { // it is none of the driver's
      return false;
    }
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
