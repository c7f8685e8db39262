package dev.outbox.store.mysql;

import dev.outbox.spi.store.KeepingStore;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import java.sql.Connection;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * The outbox on MariaDB 10.6 and newer.
 *
 * <p>What is stored and the steps of append, claim and settle are {@link MysqlOutboxStore}'s.
 *
 * <p>Append works on the caller's connection, at its isolation level; it changes what {@code
 * LAST_INSERT_ID()} says there. Everything else takes connections from the data source, one at a
 * time for each call, and needs no setting of them; what it sets for its transactions it puts back.
 */
public final class MariadbOutboxStore extends JdbcOutboxStore implements KeepingStore<Connection> {

  private MariadbOutboxStore(PlainBuilder<MariadbOutboxStore> b) {
    super(b, (names, archive) -> MysqlDialect.of(names, Flavor.MARIADB, archive));
  }

  /** A store with the default names, for relays and for appending. */
  public static MariadbOutboxStore of(DataSource dataSource) {
    return builder(dataSource).build();
  }

  /** Starts with the defaults that each setter names. */
  public static PlainBuilder<MariadbOutboxStore> builder(DataSource dataSource) {
    return new PlainBuilder<>(dataSource, MariadbOutboxStore::new);
  }

  @Override
  public Keeper keeper(Duration unclaimed) {
    return keep(unclaimed);
  }
}
