package dev.outbox.dev.bench;

import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.mysql.MariadbInboxStore;
import dev.outbox.store.mysql.MariadbOutboxStore;
import dev.outbox.store.mysql.MysqlInboxStore;
import dev.outbox.store.mysql.MysqlOutboxStore;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Function;
import javax.sql.DataSource;

/**
 * MySQL and MariaDB. Of the limit, beside what {@link JdbcLimit} says: the deletion's ids are a
 * list of as many as a batch has, filled up with the last, so that it is prepared once. A JSON list
 * joined in front of the table is a tenth slower (measured, with 1 and 4 workers), but would be
 * looked up one by one where this is planned as a scan: in a table of some hundred messages, where
 * the scans of two workers then deadlock. One of them begins again; in a large table that was never
 * seen. The driver sends both statements as text, its default.
 *
 * <p>Row writes are counted where {@code performance_schema} is on, as by default on MySQL.
 */
final class MysqlKind extends JdbcKind {
  private static final int DEADLOCK = 1213;

  /** The first that the server knows. */
  private static final List<String> LOG_SEQUENCE_NUMBERS =
      List.of("Innodb_redo_log_current_lsn", "Innodb_lsn_current", "Innodb_os_log_written");

  private final String collation;

  private MysqlKind(
      String name,
      String urlPrefix,
      String collation,
      Function<DataSource, JdbcOutboxStore.Builder<?, ?>> stores,
      Function<DataSource, JdbcInboxStore.Builder<?, ?>> inboxes) {
    super(name, urlPrefix, "mysql.sql", stores, inboxes);
    this.collation = collation;
  }

  static MysqlKind mysql() {
    return new MysqlKind(
        "MySQL",
        "jdbc:mysql:",
        "utf8mb4_0900_bin",
        MysqlOutboxStore::builder,
        MysqlInboxStore::builder);
  }

  static MysqlKind mariadb() {
    return new MysqlKind(
        "MariaDB",
        "jdbc:mariadb:",
        "utf8mb4_nopad_bin",
        MariadbOutboxStore::builder,
        MariadbInboxStore::builder);
  }

  @Override
  public String sql(String statement) {
    return super.sql(statement).replace("${collation}", collation);
  }

  /** Sessions have no name; they are found by their database. */
  @Override
  public String named(String url, String session) {
    return url;
  }

  @Override
  boolean isConflict(SQLException e) {
    return e.getErrorCode() == DEADLOCK;
  }

  @Override
  long logBytes(Session session) {
    for (String status : LOG_SEQUENCE_NUMBERS) {
      String value = session.text("show global status like '" + status + "'", 2);
      if (!value.equals("null")) {
        return Long.parseLong(value);
      }
    }
    return UNKNOWN;
  }
}
