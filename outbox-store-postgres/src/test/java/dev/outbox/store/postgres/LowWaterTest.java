package dev.outbox.store.postgres;

import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The rule itself is tested by {@link LowWaterMarkRuleTest}. */
@DisplayName("Low-water marks")
class LowWaterTest extends DatabaseTest {
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private void append(int messages) {
    append(Stream.generate(() -> message()).limit(messages).toList());
  }

  /** Claims and delivers until nothing is due; returns how many there were. */
  private int deliver() {
    int delivered = 0;
    while (true) {
      Claim claim = store.claim(request());
      assertThat(claim.settle(all(claim, Decision.delivered()))).isEmpty();
      if (claim.messages().isEmpty()) {
        return delivered;
      }
      delivered += claim.messages().size();
    }
  }

  private long mark() {
    return Long.parseLong(database.query("select max(low_water) from outbox_bucket"));
  }

  /** That of transactions that are open, too. */
  private long ahead() {
    return Long.parseLong(
        database.query("select max(greatest(low_water, low_water_ahead)) from outbox_bucket"));
  }

  /** Appends and delivers until the mark has passed all that is there now. */
  private void moveMark() {
    move(this::mark);
  }

  private long lastSequence() {
    return Long.parseLong(
        database.query(
            "select coalesce(pg_sequence_last_value(pg_get_serial_sequence('outbox_message', 'seq')::regclass), 0)"));
  }

  private void move(LongSupplier mark) {
    long last = lastSequence();
    await()
        .atMost(PATIENCE)
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(5))
        .untilAsserted(
            () -> {
              append(1);
              assertThat(deliver()).isEqualTo(1);
              assertThat(mark.getAsLong()).isGreaterThan(last);
            });
  }

  @Test
  @DisplayName("are forgotten by whoever takes over a lease that ran out")
  void takeover() {
    append(1);
    moveMark();
    assertThat(mark()).isPositive();
    append(1);
    Claim lost = store.claim(request());
    assertThat(lost.messages()).hasSize(1);
    assertThat(mark()).as("while it lasts").isPositive();
    database.execute(
        """
        update outbox_bucket set
          leased_at = leased_at - interval '1 hour', lease_until = lease_until - interval '1 hour'
        where claim_id is not null
        """);
    Claim taken = store.claim(request());
    assertThat(taken.messages()).hasSize(1);
    assertThat(mark()).as("after the takeover").isZero();
    assertThat(lost.settle(Map.of())).hasSize(1);
    assertThat(mark()).as("after the settle of the one that was lost").isZero();
  }

  @Test
  @DisplayName("have others ahead beside a transaction that stays open, and follow after it")
  void openElsewhere() throws Exception {
    append(1);
    try (Connection elsewhere = database.pool.getConnection();
        Statement statement = elsewhere.createStatement()) {
      elsewhere.setAutoCommit(false);
      boolean ignored = statement.execute("create table elsewhere (id integer)");
      long last = lastSequence();
      move(this::ahead);
      assertThat(mark()).as("the one that needs nobody to be open").isBetween(0L, last + 1);
      long ahead = ahead();
      elsewhere.rollback();
      append(1);
      assertThat(deliver()).isEqualTo(1);
      assertThat(mark()).as("after it").isLessThan(ahead);
    }
    moveMark();
  }

  @Test
  @DisplayName("do not hide messages after the restart of a sequence that has caught up since")
  void restartedAndCaughtUp() {
    append(20);
    assertThat(deliver()).isEqualTo(20);
    moveMark();
    long before = mark();
    database.execute("truncate outbox_message restart identity");
    append((int) before + 10);
    assertThat(deliver()).as("of those that begin at 1").isEqualTo((int) before + 10);
  }

  @Test
  @DisplayName("are not stored by a claim of before a restart")
  void restartedMeanwhile() {
    append(20);
    assertThat(deliver()).isEqualTo(20);
    moveMark();
    int before = (int) mark();
    append(1);
    Claim claim = store.claim(request());
    assertThat(claim.messages()).hasSize(1);
    database.execute("truncate outbox_message restart identity");
    append(before + 10);
    assertThat(claim.settle(Map.of())).isEmpty();
    assertThat(deliver()).isEqualTo(before + 10);
  }

  @Test
  @DisplayName("do not let a range be deleted that holds a message which somebody inserted by hand")
  void insertedByHand() {
    append(1);
    moveMark();
    append(1);
    String gap = drawSequence();
    append(1);
    Claim claim = store.claim(request());
    assertThat(claim.messages()).hasSize(2);
    insertByHand(gap);
    assertThat(claim.settle(all(claim, Decision.delivered()))).isEmpty();
    assertThat(database.query("select string_agg(seq::text, ',') from outbox_message"))
        .isEqualTo(gap);
    for (int i = 0; i < 64; i++) {
      store.housekeep();
    }
    assertThat(deliver()).as("found when the marks are forgotten in turn").isEqualTo(1);
  }

  private String drawSequence() {
    return database.query(
        "select nextval(pg_get_serial_sequence('outbox_message', 'seq')::regclass)");
  }

  /** A message of the key that all have here. */
  private void insertByHand(String sequence) {
    database.execute(
        """
        insert into outbox_message (seq, aggregate_type, aggregate_id, event_type, payload)
          overriding system value values (%s, 'order', '1', 'Placed', '{}')
        """
            .formatted(sequence));
  }

  @Test
  @DisplayName("that have passed a message are told: no figure counts it")
  void passedOne() {
    append(1);
    String gap = drawSequence();
    moveMark();
    insertByHand(gap);
    assertThat(store.statistics(100).pending()).isZero();
    await()
        .atMost(PATIENCE)
        .until(
            () -> Findings.wrong(store).stream().anyMatch(said -> said.startsWith("1 messages")));
    assertThat(Findings.wrong(store))
        .singleElement()
        .asString()
        .startsWith("1 messages of bucket ")
        .contains(", from sequence %s on, lie below the bucket's mark".formatted(gap));
    for (int i = 0; i < 64; i++) {
      store.housekeep();
    }
    assertThat(Findings.wrong(store)).isEmpty();
    assertThat(deliver()).isEqualTo(1);
  }

  private void setSequenceBack(long to) {
    database.execute(
        "select setval(pg_get_serial_sequence('outbox_message', 'seq'), %d)".formatted(to));
  }

  @Test
  @DisplayName("do not hide messages after the sequence was set back")
  void setBack() {
    append(20);
    assertThat(deliver()).isEqualTo(20);
    moveMark();
    setSequenceBack(10);
    append(5);
    assertThat(deliver()).as("of those that begin at 11").isEqualTo(5);
  }

  @Test
  @DisplayName("are forgotten by a claim that holds them while the sequence is set back")
  void setBackMeanwhile() {
    append(20);
    assertThat(deliver()).isEqualTo(20);
    moveMark();
    append(2);
    Claim.Request one = new Claim.Request("test", 1, 1000, Duration.ofMinutes(1));
    Claim claim = store.claim(one);
    long first = claim.messages().get(0).sequence();
    setSequenceBack(10);
    append(1);
    Claim next = store.settleAndClaim(claim, Map.of(first, Decision.delivered()), one).next();
    assertThat(next.messages()).extracting(StoredMessage::sequence).containsExactly(11L);
    assertThat(next.settle(Map.of(11L, Decision.delivered()))).isEmpty();
    assertThat(deliver()).isEqualTo(1);
  }

  @Test
  @DisplayName("are stored by a claim that found nothing to bring, and messages found later come")
  void nothingToBring() {
    append(1);
    moveMark();
    append(2);
    // One that has room for nothing of this bucket gives it back as it was.
    Claim claim = store.claim(new Claim.Request("test", 1, 1, Duration.ofMinutes(1)));
    assertThat(claim.messages()).hasSize(1);
    assertThat(claim.settle(Map.of())).isEmpty();
    assertThat(deliver()).isEqualTo(2);
  }
}
