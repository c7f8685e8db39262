package dev.outbox.dev.bench;

import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
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
record MysqlKind(
    String name,
    String urlPrefix,
    String collation,
    Function<DataSource, JdbcOutboxStore.Builder<?, ?>> stores,
    Function<DataSource, JdbcInboxStore.Builder<?, ?>> inboxes)
    implements BenchKind {
  private static final int DEADLOCK = 1213;

  /** The first that the server knows. */
  private static final List<String> LOG_SEQUENCE_NUMBERS =
      List.of("Innodb_redo_log_current_lsn", "Innodb_lsn_current", "Innodb_os_log_written");

  @Override
  public JdbcOutboxStore.Builder<?, ?> store(DataSource dataSource) {
    return stores.apply(dataSource);
  }

  @Override
  public JdbcInboxStore.Builder<?, ?> inbox(DataSource dataSource) {
    return inboxes.apply(dataSource);
  }

  /** Sessions have no name; they are found by their database. */
  @Override
  public String named(String url, String name) {
    return url;
  }

  @Override
  public String enter(String schema) {
    return "use " + schema;
  }

  /**
   * What one makes begins so. The driver knows where this user is, not whom the server took it for.
   */
  @Override
  public String grant(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet account = statement.executeQuery("select current_user()")) {
      account.next();
      return "grant all on `outbox\\_%%`.* to '%s'"
          .formatted(account.getString(1).replace("@", "'@'"));
    }
  }

  @Override
  public String sessions() {
    return """
    select id from information_schema.processlist
    where db like ? escape '!' and id <> connection_id()
    """;
  }

  @Override
  public String end() {
    return "kill %s";
  }

  @Override
  public List<String> drop(Connection connection, String schema) {
    return List.of("drop schema if exists " + schema);
  }

  @Override
  public List<String> settings() {
    return List.of(
        "innodb_flush_log_at_trx_commit",
        "innodb_doublewrite",
        "log_bin",
        "sync_binlog",
        "innodb_buffer_pool_size",
        "performance_schema");
  }

  @Override
  public String setting() {
    return "select @@global.%s";
  }

  @Override
  public String businessTable() {
    return """
    create table ${s}.business (
      id         bigint not null auto_increment primary key,
      customer   varchar(255) not null,
      amount     bigint not null,
      placed_at  datetime(6) not null default (utc_timestamp(6))
    ) engine = InnoDB
    """;
  }

  @Override
  public String limitTable() {
    return """
    create table ${s}.like_message (
      seq             bigint not null auto_increment primary key,
      status          enum('PENDING', 'SCHEDULED', 'BLOCKED', 'DEAD') not null default 'PENDING',
      id              char(36) character set ascii not null default (uuid()),
      aggregate_type  varchar(256) not null,
      aggregate_id    varchar(256) not null,
      event_type      varchar(256) not null,
      partition_key   varchar(256),
      payload         mediumblob not null,
      content_type    varchar(256) not null default 'application/json',
      headers         mediumtext not null default ('[]'),
      dedup_key       varchar(256),
      correlation_id  varchar(256),
      created_at      datetime(6) not null default (utc_timestamp(6)),
      available_at    datetime(6),
      max_attempts    integer,
      attempts        integer not null default 0,
      last_error      text,
      last_failed_at  datetime(6)
    ) engine = InnoDB default character set utf8mb4 collate %s
    """
        .formatted(collation);
  }

  @Override
  public String remove(int most) {
    return "delete from ${s}.like_message where seq in (%s)"
        .formatted(String.join(", ", Collections.nCopies(most, "?")));
  }

  @Override
  public void setRemoved(PreparedStatement remove, long[] sequences, int count)
      throws SQLException {
    for (int i = 0; i < sequences.length; i++) {
      remove.setLong(i + 1, sequences[Math.min(i, count - 1)]);
    }
  }

  @Override
  public boolean isConflict(SQLException e) {
    return e.getErrorCode() == DEADLOCK;
  }

  @Override
  public String fill() {
    return """
    insert into ${t} (id, aggregate_type, aggregate_id, event_type, partition_key, payload)
    select f.id, 'order', concat(?, coalesce(f.n % nullif(?, 0), f.n)), 'OrderPlaced',
      case when ? = 0 then f.id end, ?
    from (select ? + n as n, uuid() as id from ${s}.number where n < ?) f
    order by f.n
    """;
  }

  @Override
  public String tidy(String table) {
    return "analyze table " + table;
  }

  @Override
  public void pinSnapshot(Session session, String schema) throws SQLException {
    session.run("set transaction isolation level repeatable read");
    session.run("start transaction with consistent snapshot, read only");
  }

  @Override
  public long writes(Session session, String schema, String table) {
    if (session.number("select @@global.performance_schema") == 0) {
      return UNKNOWN;
    }
    return session.number(
        """
        select coalesce(max(count_insert + count_update + count_delete), 0)
        from performance_schema.table_io_waits_summary_by_table
        where object_schema = '%s' and object_name = '%s'
        """
            .formatted(schema, table));
  }

  @Override
  public long logBytes(Session session) {
    for (String status : LOG_SEQUENCE_NUMBERS) {
      String value = session.text("show global status like '" + status + "'", 2);
      if (!value.equals("null")) {
        return Long.parseLong(value);
      }
    }
    return UNKNOWN;
  }
}
