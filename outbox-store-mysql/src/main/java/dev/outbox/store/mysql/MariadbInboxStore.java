package dev.outbox.store.mysql;

import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.internal.TableKind;
import javax.sql.DataSource;

/**
 * The inbox on MariaDB 10.6 and newer; what is said of {@link MysqlInboxStore} holds here, too.
 * With {@code innodb_snapshot_isolation}, the default from MariaDB 11.6.2 on, a key that another
 * recorded since the caller's snapshot is a {@link dev.outbox.TransientOutboxException}: run it
 * again.
 */
public final class MariadbInboxStore extends JdbcInboxStore {

  private MariadbInboxStore(PlainBuilder<MariadbInboxStore> b) {
    super(
        b, names -> new MysqlServer(names, TableKind.INBOX, Flavor.MARIADB), MysqlInboxTexts.TEXTS);
  }

  /** An inbox with the default names. */
  public static MariadbInboxStore of(DataSource dataSource) {
    return builder(dataSource).build();
  }

  /** Starts with the defaults that each setter names. */
  public static PlainBuilder<MariadbInboxStore> builder(DataSource dataSource) {
    return new PlainBuilder<>(dataSource, MariadbInboxStore::new);
  }
}
