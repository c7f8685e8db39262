package dev.outbox.store.mysql;

import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.internal.TableKind;
import javax.sql.DataSource;

/**
 * The inbox on MySQL 8.0.20 and newer; {@link JdbcInboxStore} says what is stored, and how.
 *
 * <p>{@code firstTime} sees what was committed last, at any isolation level of the caller's
 * transaction. A repetition keeps the key's row locked until the caller's transaction ends. Where
 * consumers have several messages in one transaction, in different orders, or roll back, one of
 * them may lose a deadlock: that is a {@link dev.outbox.TransientOutboxException}.
 */
public final class MysqlInboxStore extends JdbcInboxStore {

  private MysqlInboxStore(PlainBuilder<MysqlInboxStore> b) {
    super(b, names -> new MysqlServer(names, TableKind.INBOX, Flavor.MYSQL), MysqlInboxTexts.TEXTS);
  }

  /** An inbox with the default names. */
  public static MysqlInboxStore of(DataSource dataSource) {
    return builder(dataSource).build();
  }

  /** Starts with the defaults that each setter names. */
  public static PlainBuilder<MysqlInboxStore> builder(DataSource dataSource) {
    return new PlainBuilder<>(dataSource, MysqlInboxStore::new);
  }
}
