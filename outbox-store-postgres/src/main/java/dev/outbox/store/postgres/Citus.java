package dev.outbox.store.postgres;

import dev.outbox.PermanentOutboxException;
import dev.outbox.spi.store.Finding;
import dev.outbox.store.core.internal.PrefixedNames;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jdbi.v3.core.Handle;

/**
 * Citus, an extension that spreads tables over servers. A table that it does not know is one of
 * PostgreSQL's, on the coordinator. In one that it has spread, rows and transaction ids are those
 * of several servers, and a low-water mark that compares them would pass messages over.
 */
final class Citus {
  static final String IS_THERE =
      "select true from pg_catalog.pg_extension e where e.extname = 'citus'";

  private static final String KNOWN_TO_IT =
      "select p.logicalrelid::text from pg_dist_partition p"
          + " where p.logicalrelid in ('${q}${p}message'::regclass, '${q}${p}schema'::regclass)";

  private Citus() {}

  /** Refuses tables that Citus has spread or copied. */
  static void refuseDistributed(Connection connection, PrefixedNames names) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(names.fill(KNOWN_TO_IT));
        ResultSet rows = statement.executeQuery()) {
      if (rows.next()) {
        throw new PermanentOutboxException(
            "table %1$s is spread over servers by Citus, and the store compares transaction ids, which are those of one server: run select undistribute_table('%1$s'), so that it is a table of the coordinator alone"
                .formatted(rows.getString(1)));
      }
    }
  }

  /** Something where it is installed. */
  static List<Finding> findings(Handle handle) {
    return handle.createQuery(IS_THERE).mapTo(Boolean.class).list().stream()
        .map(
            there ->
                Finding.warning(
                    "Citus",
                    "this database has the extension Citus, on which we have run no test",
                    "let producers and relays connect to the coordinator, and leave the outbox's tables local to it (docs/scale.md)"))
        .toList();
  }
}
