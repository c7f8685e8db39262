package dev.outbox.dev.bench;

import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.postgres.PostgresInboxStore;
import dev.outbox.store.postgres.PostgresOutboxStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/**
 * PostgreSQL. Of the limit, beside what {@link JdbcLimit} says: a sequential scan without ORDER BY
 * begins at the same rows and reads every empty page before them; the deletion's ids are one binary
 * array; BEGIN travels with the select, and after five executions, the driver's default, both
 * statements are prepared on the server.
 */
final class PostgresKind implements BenchKind {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int FIRST_WITH_FLUSH = 15;
  private static final String NOT_ALLOWED = "42501";

  @Override
  public String name() {
    return "PostgreSQL";
  }

  @Override
  public String urlPrefix() {
    return "jdbc:postgresql:";
  }

  @Override
  public JdbcOutboxStore.Builder<?, ?> store(DataSource dataSource) {
    return PostgresOutboxStore.builder(dataSource);
  }

  @Override
  public JdbcInboxStore.Builder<?, ?> inbox(DataSource dataSource) {
    return PostgresInboxStore.builder(dataSource);
  }

  @Override
  public String named(String url, String name) {
    return url + (url.contains("?") ? "&" : "?") + "ApplicationName=" + name;
  }

  @Override
  public String grant(Connection connection) throws SQLException {
    return "grant create on database \"%s\" to \"%s\""
        .formatted(connection.getCatalog(), connection.getMetaData().getUserName());
  }

  @Override
  public String sessions() {
    return """
    select pid from pg_stat_activity
    where application_name like ? escape '!' and pid <> pg_backend_pid()
    """;
  }

  @Override
  public String end() {
    return "select pg_terminate_backend(%s)";
  }

  @Override
  public List<String> drop(Connection connection, String schema) {
    return List.of("drop schema if exists " + schema + " cascade");
  }

  @Override
  public List<String> settings() {
    return List.of(
        "fsync",
        "synchronous_commit",
        "full_page_writes",
        "shared_buffers",
        "max_wal_size",
        "autovacuum");
  }

  @Override
  public String setting() {
    return "select current_setting('%s')";
  }

  @Override
  public String businessTable() {
    return """
    create table ${s}.business (
      id         bigint generated always as identity primary key,
      customer   text not null,
      amount     bigint not null,
      placed_at  timestamptz not null default now()
    )
    """;
  }

  @Override
  public String limitTable() {
    return """
    create table ${s}.like_message (
      seq             bigint generated always as identity primary key,
      status          text not null default 'PENDING',
      id              uuid not null default gen_random_uuid(),
      aggregate_type  text not null,
      aggregate_id    text not null,
      event_type      text not null,
      partition_key   text,
      payload         bytea not null,
      content_type    text not null default 'application/json',
      headers         json not null default '[]',
      dedup_key       text,
      correlation_id  text,
      created_at      timestamptz not null default now(),
      available_at    timestamptz,
      max_attempts    integer,
      attempts        integer not null default 0,
      last_error      text,
      last_failed_at  timestamptz
    )
    -- As the outbox's own table: a fixed number of rows, so that vacuum keeps up.
    with (
      autovacuum_vacuum_scale_factor = 0,
      autovacuum_vacuum_threshold = 10000,
      autovacuum_vacuum_insert_scale_factor = 0,
      autovacuum_vacuum_insert_threshold = 100000,
      autovacuum_analyze_scale_factor = 0,
      autovacuum_analyze_threshold = 50000
    )
    """;
  }

  @Override
  public String remove(int most) {
    return "delete from ${s}.like_message where seq = any(?)";
  }

  @Override
  public void setRemoved(PreparedStatement remove, long[] sequences, int count)
      throws SQLException {
    Long[] boxed = Arrays.stream(sequences, 0, count).boxed().toArray(Long[]::new);
    remove.setArray(1, remove.getConnection().createArrayOf("bigint", boxed));
  }

  @Override
  public String row() {
    return "(?, ?, ?, ?, ?, ?, ?, ?::json, ?, ?, ?, ?::timestamptz)";
  }

  @Override
  public void setId(PreparedStatement statement, int index, UUID id) throws SQLException {
    statement.setObject(index, id);
  }

  @Override
  public String time(Instant time) {
    return time.toString();
  }

  @Override
  @SuppressWarnings("CheckReturnValue")
  public void readId(ResultSet row, int index) throws SQLException {
    row.getObject(index, UUID.class);
  }

  @Override
  @SuppressWarnings("CheckReturnValue")
  public void readTime(ResultSet row, int index) throws SQLException {
    row.getObject(index, OffsetDateTime.class);
  }

  @Override
  public String fill() {
    return """
    insert into ${t} (id, aggregate_type, aggregate_id, event_type, partition_key, payload)
    select f.id, 'order', ? || coalesce(f.n % nullif(?, 0), f.n), 'OrderPlaced',
      case when ? = 0 then f.id::text end, ?
    from (
      select ? + n as n, gen_random_uuid() as id from ${s}.number where n < ? offset 0
    ) f
    order by f.n
    """;
  }

  @Override
  public String tidy(String table) {
    return "vacuum (analyze) " + table;
  }

  @Override
  public String checkpoint() {
    return "checkpoint";
  }

  @Override
  public boolean isNotAllowed(SQLException e) {
    return NOT_ALLOWED.equals(e.getSQLState());
  }

  @Override
  public void pinSnapshot(Session session, String schema) throws SQLException {
    session.run("set transaction isolation level repeatable read, read only");
    session.run("select 1");
  }

  /** A session tells what it wrote at its end at the latest. */
  @Override
  public void awaitCounted(Session session, String pools) {
    String open = " from pg_stat_activity where application_name = '%s'".formatted(pools);
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (session.number("select count(*)" + open) > 0) {
      if (System.nanoTime() - end > 0) {
        String what =
            "select string_agg(concat_ws(' ', state, wait_event_type, wait_event,"
                + " now() - query_start, query), '; ')";
        throw new IllegalStateException(
            "row writes are counted when all pools are closed, but there is still: "
                + session.text(what + open));
      }
      LockSupport.parkNanos(5_000_000);
    }
    if (session.number("show server_version_num") / 10_000 >= FIRST_WITH_FLUSH) {
      session.execute("select pg_stat_force_next_flush()");
    } else {
      LockSupport.parkNanos(Duration.ofSeconds(1).toNanos());
    }
  }

  /** With those of its partitions: an archive has one for each day. */
  @Override
  public long writes(Session session, String schema, String table) {
    return session.number(
        """
        select coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0) from pg_stat_user_tables
        where schemaname = '%s' and relname ~ '^%s(_[0-9]{8}|_rest)?$'
        """
            .formatted(schema, table));
  }

  @Override
  public long logBytes(Session session) {
    return session.number("select pg_current_wal_insert_lsn() - '0/0'::pg_lsn");
  }
}
