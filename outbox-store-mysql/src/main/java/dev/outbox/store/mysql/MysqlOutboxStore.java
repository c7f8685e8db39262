package dev.outbox.store.mysql;

import dev.outbox.spi.store.KeepingStore;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import java.sql.Connection;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * The outbox on MySQL 8.0.20 and newer.
 *
 * <p>What is stored, in tables whose names begin with the prefix, is in {@code
 * docs/sql/outbox-mysql.sql}. {@code place} is by what a message is found in its status.
 *
 * <ol>
 *   <li><b>append</b>: dedup keys are taken first, because a duplicate would end a statement; then
 *       {@code insert} with many rows of values, in the caller's transaction.
 *   <li><b>claim</b>, one transaction at READ COMMITTED. It reads without locks which free buckets
 *       have work, and takes them by primary key with {@code for update skip locked}, longest
 *       unserved first. {@code union all} reads the first messages of each. What cannot be sent now
 *       moves to another status.
 *   <li><b>publish</b>, outside any transaction.
 *   <li><b>settle</b>, one transaction. {@code select … for update} locks the buckets that claim id
 *       and token still say are ours. Delivered messages are copied to the archive, if there is
 *       one, and deleted; failed ones are changed. Buckets are given back, or kept and read again.
 * </ol>
 *
 * <p>Append works on the caller's connection, at its isolation level; it changes what {@code
 * LAST_INSERT_ID()} says there. Everything else takes connections from the data source, one at a
 * time for each call, and needs no setting of them; what it sets for its transactions it puts back.
 */
public final class MysqlOutboxStore extends JdbcOutboxStore implements KeepingStore<Connection> {

  private MysqlOutboxStore(PlainBuilder<MysqlOutboxStore> b) {
    super(b, (names, archive) -> MysqlDialect.of(names, Flavor.MYSQL, archive));
  }

  /** A store with the default names, for relays and for appending. */
  public static MysqlOutboxStore of(DataSource dataSource) {
    return builder(dataSource).build();
  }

  /** Starts with the defaults that each setter names. */
  public static PlainBuilder<MysqlOutboxStore> builder(DataSource dataSource) {
    return new PlainBuilder<>(dataSource, MysqlOutboxStore::new);
  }

  @Override
  public Keeper keeper(Duration unclaimed) {
    return keep(unclaimed);
  }
}
