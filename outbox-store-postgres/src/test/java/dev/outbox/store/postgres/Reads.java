package dev.outbox.store.postgres;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.outbox.store.jdbc.TestDatabase;

/** Counts what the session of a database reads of the outbox's tables and indexes. */
final class Reads {
  private final TestDatabase database;

  /**
   * @param database with a pool of one connection, because the server counts for each session and
   *     hands in the counts of one session when that session asks it to
   */
  Reads(TestDatabase database) {
    this.database = database;
    assumeTrue(
        Integer.parseInt(database.query("show server_version_num")) >= 150000,
        "counting what is read needs pg_stat_force_next_flush of PostgreSQL 15");
  }

  /** Pages that something looks at. */
  long pagesDuring(Runnable work) {
    long before = pages();
    work.run();
    return pages() - before;
  }

  private long pages() {
    return sum(
        "coalesce(heap_blks_hit, 0) + coalesce(heap_blks_read, 0)"
            + " + coalesce(idx_blks_hit, 0) + coalesce(idx_blks_read, 0)",
        "pg_statio_user_tables");
  }

  /** Rows of tables that are scanned, and entries of indexes. */
  long rows() {
    return sum("seq_tup_read", "pg_stat_user_tables") + sum("idx_tup_read", "pg_stat_user_indexes");
  }

  private long sum(String what, String statistics) {
    database.query("select pg_stat_force_next_flush()");
    return Long.parseLong(
        database.query(
            "select sum(%s) from %s where schemaname = '%s'"
                .formatted(what, statistics, database.schema())));
  }
}
