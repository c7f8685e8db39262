package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Decision;
import dev.outbox.spi.StatisticsStore;
import dev.outbox.spi.StatisticsStore.Statistics;
import dev.outbox.spi.StoredMessage;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * F1, by statements and pages: what one reading of the metrics costs beside a large backlog. How
 * long that took is printed and not judged. {@code -Doutbox.test.backlog=1000000} makes it larger
 * than each build has the time for.
 */
@DisplayName("One reading of the statistics")
class StatisticsCostTest extends DatabaseTest {
  private static final int BACKLOG = Integer.getInteger("outbox.test.backlog", 100_000);

  /** Of the counted ones one or two pages each, of four kinds at most; some for the rest. */
  private static final long MOST_PAGES = 5 * StatisticsStore.DEFAULT_CAP;

  private Reads reads;

  @Override
  protected void configure(HikariConfig config) {
    config.setMaximumPoolSize(1);
  }

  @BeforeEach
  void migrate() {
    reads = new Reads(database);
    store.migrate();
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

  /** What the last reading said, and how long it took. */
  private record Timed(Statistics statistics, double millis) {}

  private Timed read() {
    long begin = System.nanoTime();
    Statistics statistics = store.statistics(StatisticsStore.DEFAULT_CAP);
    return new Timed(statistics, (System.nanoTime() - begin) / 1e6);
  }

  private Statistics assertCostsLittle(String beside) {
    AtomicReference<Timed> last = new AtomicReference<>();
    for (int i = 1; i <= 7; i++) { // more often than the driver tries before it prepares
      long pages = reads.pagesDuring(() -> last.set(read()));
      if (i == 1 || i == 7) {
        System.out.printf(
            "statistics beside %s, reading %d: %,d pages looked at, %.1f ms%n",
            beside, i, pages, last.get().millis());
      }
      assertThat(pages).as("pages beside %s, reading %d", beside, i).isLessThan(MOST_PAGES);
    }
    return last.get().statistics();
  }

  @Test
  @DisplayName("costs pages in the order of the cap, whatever waits and whatever the planner knows")
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
  @DisplayName("costs no more where one key has nearly all messages")
  void oneKey() {
    insert(BACKLOG, "'one'", "PENDING", "null");
    insert(1_000, "'key ' || n", "PENDING", "null");
    Statistics skewed = assertCostsLittle("%,d messages of one key".formatted(BACKLOG));
    assertThat(skewed.pending()).isEqualTo(StatisticsStore.DEFAULT_CAP);
    assertThat(store.statistics(BACKLOG + 2_000).pending()).isEqualTo(BACKLOG + 1_000);
  }

  @Test
  @DisplayName("does not read what was delivered and is not vacuumed yet")
  void afterDeliveries() {
    insert(20_000, "'key ' || n % 5000", "PENDING", "null");
    ClaimRequest request = new ClaimRequest("test", 1_000, 100_000_000, Duration.ofMinutes(5));
    for (Claim claim = store.claim(request);
        !claim.messages().isEmpty();
        claim = store.claim(request)) {
      Map<Long, Decision> delivered =
          claim.messages().stream()
              .collect(Collectors.toMap(StoredMessage::sequence, m -> Decision.delivered()));
      assertThat(claim.settle(delivered)).isEmpty();
    }
    insert(10, "'key ' || n", "PENDING", "null");
    long pages =
        reads.pagesDuring(() -> assertThat(store.statistics(10_000).pending()).isEqualTo(10));
    System.out.printf("statistics after 20,000 delivered, not vacuumed: %,d pages%n", pages);
    assertThat(pages).as("pages after 20,000 messages were delivered").isLessThan(2_000);
  }
}
