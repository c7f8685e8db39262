package dev.outbox.dev.bench;

import dev.outbox.store.postgres.PostgresInboxStore;
import dev.outbox.store.postgres.PostgresOutboxStore;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

/**
 * PostgreSQL. Of the limit, beside what {@link JdbcLimit} says: a sequential scan without ORDER BY
 * begins at the same rows and reads every empty page before them; the deletion's ids are one binary
 * array; BEGIN travels with the select, and after five executions, the driver's default, both
 * statements are prepared on the server.
 */
final class PostgresKind extends JdbcKind {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int FIRST_WITH_FLUSH = 15;
  private static final String NOT_ALLOWED = "42501";

  PostgresKind() {
    super(
        "PostgreSQL",
        "jdbc:postgresql:",
        "postgres.sql",
        PostgresOutboxStore::builder,
        PostgresInboxStore::builder);
  }

  @Override
  public String named(String url, String session) {
    return url + (url.contains("?") ? "&" : "?") + "ApplicationName=" + session;
  }

  @Override
  void setRemoved(PreparedStatement remove, long[] sequences, int count) throws SQLException {
    Long[] boxed = Arrays.stream(sequences, 0, count).boxed().toArray(Long[]::new);
    remove.setArray(1, remove.getConnection().createArrayOf("bigint", boxed));
  }

  @Override
  void setId(PreparedStatement statement, int index, UUID id) throws SQLException {
    statement.setObject(index, id);
  }

  @Override
  @SuppressWarnings("CheckReturnValue")
  void readId(ResultSet row, int index) throws SQLException {
    row.getObject(index, UUID.class);
  }

  @Override
  @SuppressWarnings("CheckReturnValue")
  void readTime(ResultSet row, int index) throws SQLException {
    row.getObject(index, OffsetDateTime.class);
  }

  @Override
  boolean isNotAllowed(SQLException e) {
    return NOT_ALLOWED.equals(e.getSQLState());
  }

  /** A session tells what it wrote at its end at the latest. */
  @Override
  void awaitCounted(Session session, String pools) {
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
}
