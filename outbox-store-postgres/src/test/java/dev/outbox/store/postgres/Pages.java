package dev.outbox.store.postgres;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.outbox.store.jdbc.TestDatabase;

/** Counts the pages of the outbox's tables and indexes that something looks at. */
final class Pages {
  private final TestDatabase database;

  /**
   * @param database with a pool of one connection, because the server counts for each session and
   *     hands in the counts of one session when that session asks it to
   */
  Pages(TestDatabase database) {
    this.database = database;
    assumeTrue(
        Integer.parseInt(database.query("show server_version_num")) >= 150000,
        "counting pages needs pg_stat_force_next_flush of PostgreSQL 15");
  }

  long during(Runnable work) {
    long before = total();
    work.run();
    return total() - before;
  }

  long total() {
    database.query("select pg_stat_force_next_flush()");
    return Long.parseLong(
        database.query(
            "select sum(coalesce(heap_blks_hit, 0) + coalesce(heap_blks_read, 0)"
                + " + coalesce(idx_blks_hit, 0) + coalesce(idx_blks_read, 0))"
                + " from pg_statio_user_tables where schemaname = '"
                + database.schema()
                + "'"));
  }
}
