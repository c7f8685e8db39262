package dev.outbox.store.sqlserver;

import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.internal.TableKind;
import javax.sql.DataSource;

/**
 * The inbox on SQL Server 2019 and newer, and on Azure SQL; {@link JdbcInboxStore} says what is
 * stored, and how. The table has a column more, {@code key_hash}: by it the key is compared.
 *
 * <p>{@code firstTime} sees what was committed last, at any isolation level of the caller's
 * transaction and with READ_COMMITTED_SNAPSHOT on or off. At SNAPSHOT a key that another recorded
 * since the snapshot may be a {@link dev.outbox.TransientOutboxException}: run it again. So is one
 * that is in another open transaction for more than 30 seconds.
 */
public final class SqlServerInboxStore extends JdbcInboxStore {

  private SqlServerInboxStore(PlainBuilder<SqlServerInboxStore> b) {
    super(b, names -> new SqlServerServer(names, TableKind.INBOX), SqlServerInboxTexts.TEXTS);
  }

  /** An inbox with the default names. */
  public static SqlServerInboxStore of(DataSource dataSource) {
    return builder(dataSource).build();
  }

  /** Starts with the defaults that each setter names. */
  public static PlainBuilder<SqlServerInboxStore> builder(DataSource dataSource) {
    return new PlainBuilder<>(dataSource, SqlServerInboxStore::new);
  }
}
