package dev.outbox.benchmarks;

import dev.outbox.benchmarks.BenchDatabase.State;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.sqlserver.SqlServerOutboxStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/**
 * SQL Server. Of the limit, beside what {@link JdbcLimit} says: rows are locked one by one, because
 * READPAST does not skip a locked page, and READCOMMITTEDLOCK makes it allowed where
 * READ_COMMITTED_SNAPSHOT is on; the deletion's ids are one JSON list, looked up one by one.
 */
final class SqlServerKind extends JdbcKind {
  private static final int PERMISSION_DENIED = 262;
  private static final int DEADLOCK = 1205;

  @Override
  public String name() {
    return "SQL Server";
  }

  @Override
  public String urlPrefix() {
    return "jdbc:sqlserver:";
  }

  @Override
  public String driver() {
    return "com.microsoft.sqlserver.jdbc.SQLServerDriver";
  }

  @Override
  public boolean wantsPassword(SQLException e) {
    return "S0001".equals(e.getSQLState());
  }

  @Override
  public JdbcOutboxStore.Builder<?, ?> store(DataSource dataSource) {
    return SqlServerOutboxStore.builder(dataSource);
  }

  @Override
  public String named(String url, String name) {
    return url + (url.endsWith(";") ? "" : ";") + "applicationName=" + name;
  }

  @Override
  String sessions() {
    return """
        select session_id from sys.dm_exec_sessions
        where program_name like ? escape '!' and session_id <> @@spid
        """;
  }

  @Override
  String end() {
    return "kill %s";
  }

  /** There is no CASCADE. Not for ever does it wait for a session that may not be ended. */
  @Override
  List<String> drop(Connection connection, String schema) throws SQLException {
    List<String> all = new ArrayList<>(List.of("set lock_timeout 30000"));
    String types = "select name from sys.table_types where schema_id = schema_id(?)";
    String tables = "select name from sys.tables where schema_id = schema_id(?)";
    names(connection, tables, schema).forEach(t -> all.add("drop table " + schema + "." + t));
    names(connection, types, schema).forEach(t -> all.add("drop type " + schema + "." + t));
    all.add("drop schema if exists " + schema);
    return all;
  }

  private static List<String> names(Connection connection, String sql, String schema)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, schema);
      try (ResultSet rows = statement.executeQuery()) {
        List<String> names = new ArrayList<>();
        while (rows.next()) {
          names.add(rows.getString(1));
        }
        return names;
      }
    }
  }

  @Override
  List<String> settings() {
    return List.of(
        "compatibility_level",
        "recovery_model_desc",
        "delayed_durability_desc",
        "is_read_committed_snapshot_on",
        "snapshot_isolation_state_desc");
  }

  @Override
  String setting() {
    return "select convert(varchar(60), %s) from sys.databases where database_id = db_id()";
  }

  @Override
  String businessTable() {
    return """
        create table ${s}.business (
          id         bigint identity(1, 1) not null primary key,
          customer   nvarchar(255) not null,
          amount     bigint not null,
          placed_at  datetime2(6) not null default sysutcdatetime()
        )
        """;
  }

  @Override
  String limitTable() {
    return """
        create table ${s}.like_message (
          seq             bigint identity(1, 1) not null,
          status          nvarchar(9) collate Latin1_General_100_BIN2 not null default N'PENDING',
          id              uniqueidentifier not null default newid(),
          aggregate_type  nvarchar(510) collate Latin1_General_100_BIN2 not null,
          aggregate_id    nvarchar(510) collate Latin1_General_100_BIN2 not null,
          event_type      nvarchar(510) collate Latin1_General_100_BIN2 not null,
          partition_key   nvarchar(510) collate Latin1_General_100_BIN2 null,
          payload         varbinary(max) not null,
          content_type    nvarchar(510) collate Latin1_General_100_BIN2 not null default N'application/json',
          headers         nvarchar(max) collate Latin1_General_100_BIN2 not null default N'[]',
          dedup_key       nvarchar(510) collate Latin1_General_100_BIN2 null,
          correlation_id  nvarchar(510) collate Latin1_General_100_BIN2 null,
          created_at      datetime2(6) not null default sysutcdatetime(),
          available_at    datetime2(6) null,
          attempts        int not null default 0,
          last_error      nvarchar(4000) collate Latin1_General_100_BIN2 null,
          last_failed_at  datetime2(6) null,
          primary key clustered (seq) with (allow_page_locks = off)
        );
        alter table ${s}.like_message set (lock_escalation = disable);
        """;
  }

  @Override
  String take() {
    return """
        select top (?) %s
        from ${s}.like_message with (readcommittedlock, updlock, readpast)
        order by seq
        """
        .formatted(JdbcLimit.COLUMNS);
  }

  @Override
  String remove(int most) {
    return """
        delete m from openjson(?) with (seq bigint '$') l
        inner loop join ${s}.like_message m on m.seq = l.seq
        """;
  }

  @Override
  boolean isConflict(SQLException e) {
    return e.getErrorCode() == DEADLOCK;
  }

  /** NEWID stands where it is used, because that of a derived table may be computed at each use. */
  @Override
  String fill(State state) {
    return """
        insert into ${t} (status, id, aggregate_type, aggregate_id, event_type, partition_key, payload, available_at)
        select ?, newid(), N'order', concat(?, coalesce(f.n %% nullif(?, 0), f.n)), N'OrderPlaced',
          case when ? = 0 then convert(nvarchar(36), newid()) end, ?, %s
        from (select ? + n as n from ${s}.number where n < ?) f
        order by f.n
        """
        .formatted(state == State.DELAYED ? "dateadd(day, 1, sysutcdatetime())" : "null");
  }

  @Override
  String tidy(String table) {
    return "update statistics " + table;
  }

  @Override
  String checkpoint() {
    return "checkpoint";
  }

  @Override
  boolean isNotAllowed(SQLException e) {
    return e.getErrorCode() == PERMISSION_DENIED;
  }

  /** The database must have ALLOW_SNAPSHOT_ISOLATION on. */
  @Override
  void pinSnapshot(Session session, String schema) throws SQLException {
    session.run("set transaction isolation level snapshot");
    session.run("select count(*) from %s.number".formatted(schema));
  }

  /** A row that is deleted is marked as a ghost first, or not; it counts once. */
  @Override
  long writes(Session session, String schema, String table) {
    return session.number(
        """
        select coalesce(sum(leaf_insert_count + leaf_update_count + leaf_delete_count + leaf_ghost_count), 0)
        from sys.dm_db_index_operational_stats(db_id(), object_id('%s.%s'), null, null)
        where index_id <= 1
        """
            .formatted(schema, table));
  }

  /** Not every user may ask for it. */
  @Override
  long logBytes(Session session) {
    try {
      return session.number(
          "select num_of_bytes_written from sys.dm_io_virtual_file_stats(db_id(), 2)");
    } catch (IllegalStateException e) {
      return UNKNOWN;
    }
  }
}
