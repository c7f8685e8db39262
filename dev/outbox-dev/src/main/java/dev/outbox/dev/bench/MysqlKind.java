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
final class MysqlKind extends BenchKind {
  private static final int DEADLOCK = 1213;

  /** The first that the server knows. */
  private static final List<String> LOG_SEQUENCE_NUMBERS =
      List.of("Innodb_redo_log_current_lsn", "Innodb_lsn_current", "Innodb_os_log_written");

  private final String name;
  private final String urlPrefix;
  private final String collation;
  private final Function<DataSource, JdbcOutboxStore.Builder<?, ?>> store;
  private final Function<DataSource, JdbcInboxStore.Builder<?, ?>> inbox;

  MysqlKind(
      String name,
      String urlPrefix,
      String collation,
      Function<DataSource, JdbcOutboxStore.Builder<?, ?>> store,
      Function<DataSource, JdbcInboxStore.Builder<?, ?>> inbox) {
    this.name = name;
    this.urlPrefix = urlPrefix;
    this.collation = collation;
    this.store = store;
    this.inbox = inbox;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String urlPrefix() {
    return urlPrefix;
  }

  @Override
  public JdbcOutboxStore.Builder<?, ?> store(DataSource dataSource) {
    return store.apply(dataSource);
  }

  @Override
  public JdbcInboxStore.Builder<?, ?> inbox(DataSource dataSource) {
    return inbox.apply(dataSource);
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
  String sessions() {
    return """
    select id from information_schema.processlist
    where db like ? escape '!' and id <> connection_id()
    """;
  }

  @Override
  String end() {
    return "kill %s";
  }

  @Override
  List<String> drop(Connection connection, String schema) {
    return List.of("drop schema if exists " + schema);
  }

  @Override
  List<String> settings() {
    return List.of(
        "innodb_flush_log_at_trx_commit",
        "innodb_doublewrite",
        "log_bin",
        "sync_binlog",
        "innodb_buffer_pool_size",
        "performance_schema");
  }

  @Override
  String setting() {
    return "select @@global.%s";
  }

  @Override
  String businessTable() {
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
  String limitTable() {
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
  String remove(int most) {
    return "delete from ${s}.like_message where seq in (%s)"
        .formatted(String.join(", ", Collections.nCopies(most, "?")));
  }

  @Override
  void setRemoved(PreparedStatement remove, long[] sequences, int count) throws SQLException {
    for (int i = 0; i < sequences.length; i++) {
      remove.setLong(i + 1, sequences[Math.min(i, count - 1)]);
    }
  }

  @Override
  boolean isConflict(SQLException e) {
    return e.getErrorCode() == DEADLOCK;
  }

  @Override
  String fill() {
    return """
    insert into ${t} (id, aggregate_type, aggregate_id, event_type, partition_key, payload)
    select f.id, 'order', concat(?, coalesce(f.n % nullif(?, 0), f.n)), 'OrderPlaced',
      case when ? = 0 then f.id end, ?
    from (select ? + n as n, uuid() as id from ${s}.number where n < ?) f
    order by f.n
    """;
  }

  @Override
  String tidy(String table) {
    return "analyze table " + table;
  }

  @Override
  void pinSnapshot(Session session, String schema) throws SQLException {
    session.run("set transaction isolation level repeatable read");
    session.run("start transaction with consistent snapshot, read only");
  }

  @Override
  long writes(Session session, String schema, String table) {
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
