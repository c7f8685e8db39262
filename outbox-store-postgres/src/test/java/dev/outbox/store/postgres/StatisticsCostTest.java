package dev.outbox.store.postgres;

import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** F1, by index entries: what one reading of the metrics costs beside a large backlog. */
@DisplayName("One reading of the statistics")
class StatisticsCostTest extends DatabaseTest {
  private static final int BACKLOG = 50_000;

  /** Smaller than the default, so that reading all of the backlog is five times too much. */
  private static final int CAP = 1_000;

  /** Of three kinds the messages are counted twice at most; four other lists are read once. */
  private static final long MOST_ENTRIES = 10 * CAP + 1_000;

  private Reads reads;

  @Override
  protected void configure(HikariConfig config) {
    config.setMaximumPoolSize(1);
  }

  @BeforeEach
  void prepare() {
    reads = new Reads(database);
    // The tests say when the planner learns something, and what is vacuumed.
    database.execute("alter table outbox_message set (autovacuum_enabled = false)");
  }

  private void insert(int messages, String key, String status, String availableAt) {
    database.execute(
        """
        insert into outbox_message (aggregate_type, aggregate_id, event_type, payload, status, available_at)
        select 'order', %s, 'Placed', convert_to(repeat('x', 200), 'UTF8'), '%s', %s
        from generate_series(1, %d) n
        """
            .formatted(key, status, availableAt, messages));
  }

  /** Counts index entries and rows; gives a reading with the default cap. */
  private Statistics assertCostsLittle(String beside) {
    for (int i = 1; i <= 6; i++) { // more often than the driver tries before it prepares
      long before = reads.rows();
      Statistics unused = store.statistics(CAP);
      assertThat(reads.rows() - before)
          .as("index entries read beside %s, reading %d: %s", beside, i, unused)
          .isLessThan(MOST_ENTRIES);
    }
    return store.statistics(StatisticsStore.DEFAULT_CAP);
  }

  @Test
  @DisplayName("reads in the order of the cap, whatever waits and whatever the planner knows")
  void costs() {
    Statistics empty = assertCostsLittle("an empty table");
    assertThat(empty.oldest()).isNull();

    insert(BACKLOG, "'key ' || n % 50000", "PENDING", "null");
    Statistics backlog = assertCostsLittle("%,d messages, not analyzed".formatted(BACKLOG));
    assertThat(backlog.pending()).isEqualTo(StatisticsStore.DEFAULT_CAP);
    assertThat(backlog.oldestFree()).isNotNull();
    database.execute("analyze outbox_message");
    assertCostsLittle("%,d messages, analyzed".formatted(BACKLOG));
    assertThat(store.statistics(1_000_000_000).pending()).isEqualTo(BACKLOG);

    database.execute("vacuum outbox_message");
    assertCostsLittle("%,d messages, vacuumed".formatted(BACKLOG));

    database.execute("update outbox_message set status = 'BLOCKED' where seq % 10 = 0");
    database.execute(
        "insert into outbox_blocked_key (bucket, key, retry_at, halted_by, low_seq)"
            + " select bucket, 'order/' || aggregate_id, now() + interval '1 hour',"
            + " case when min(seq) % 20 = 0 then min(seq) end, min(seq)"
            + " from outbox_message where status = 'BLOCKED' group by 1, 2");
    insert(BACKLOG / 10, "'dead ' || n", "DEAD", "null");
    insert(BACKLOG / 10, "'late ' || n", "SCHEDULED", "now() + interval '1 day'");
    database.execute("analyze outbox_message", "analyze outbox_blocked_key");
    assertCostsLittle("%,d messages of all kinds".formatted(BACKLOG * 12 / 10));
  }

  @Test
  @DisplayName("does not read what was delivered and is not vacuumed yet")
  void afterDeliveries() {
    insert(20_000, "'key ' || n % 5000", "PENDING", "null");
    Claim.Request request = new Claim.Request("test", 1_000, 100_000_000, Duration.ofMinutes(5));
    for (Claim claim = store.claim(request);
        !claim.messages().isEmpty();
        claim = store.claim(request)) {
      Map<Long, Decision> delivered = all(claim, Decision.delivered());
      assertThat(claim.settle(delivered)).isEmpty();
    }
    insert(10, "'key ' || n", "PENDING", "null");
    long pages =
        reads.pagesDuring(() -> assertThat(store.statistics(10_000).pending()).isEqualTo(10));
    assertThat(pages).as("pages after 20,000 messages were delivered").isLessThan(2_000);
  }
}
