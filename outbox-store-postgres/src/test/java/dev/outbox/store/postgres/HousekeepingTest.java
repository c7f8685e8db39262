package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Housekeeping")
class HousekeepingTest extends DatabaseTest {
  @BeforeEach
  void migrate() {
    store.migrate();
  }

  @Test
  @DisplayName("purges dedup keys older than the window, however many, and no others")
  void purges() {
    database.execute(
        """
        insert into outbox_dedup select 'old ' || n, now() - interval '8 days' from generate_series(1, 25000) n;
        insert into outbox_dedup select 'new ' || n, now() - interval '6 days' from generate_series(1, 10) n
        """);
    store.housekeep();
    assertThat(
            database.query("select string_agg(distinct left(dedup_key, 3), ',') from outbox_dedup"))
        .isEqualTo("new");
    assertThat(database.query("select count(*) from outbox_dedup")).isEqualTo("10");
  }

  @Test
  @DisplayName("puts back bucket rows that were deleted, also some of them, and the blocked keys")
  void restores() {
    database.execute(
        """
        insert into outbox_message (aggregate_type, aggregate_id, event_type, payload, status)
          values ('order', 'k', 'e', '', 'BLOCKED');
        delete from outbox_bucket where bucket < 10
        """);
    store.housekeep();
    assertThat(database.query("select count(*) from outbox_bucket")).isEqualTo("64");
    assertThat(database.query("select string_agg(key, ',') from outbox_blocked_key"))
        .isEqualTo("k");
  }
}
