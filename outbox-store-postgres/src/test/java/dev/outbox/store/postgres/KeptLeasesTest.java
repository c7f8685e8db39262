package dev.outbox.store.postgres;

import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.FaultyConnections;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Settling and claiming in one transaction. How long a lease is kept is the store's own affair. */
@DisplayName("A lease that is kept from batch to batch")
class KeptLeasesTest extends DatabaseTest {
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /** Everything that a settle may change. */
  private static final String CONTENTS =
      """
      select string_agg(row, E'\\n' order by row) from (
        select m::text as row from outbox_message m
        union all select k::text from outbox_blocked_key k
        union all select b::text from outbox_bucket b where b.claim_id is not null or b.token > 0) rows
      """;

  private final FaultyConnections faults = new FaultyConnections();

  @BeforeEach
  void createTables() {
    database.execute(store.ddl());
    store = PostgresOutboxStore.of(faults.of(database.pool));
  }

  private void append(String key, int messages) {
    var list =
        IntStream.range(0, messages)
            .mapToObj(
                i ->
                    OutboxMessage.builder()
                        .aggregate("order", key)
                        .partitionKey(key)
                        .eventType("changed")
                        .payload("{}")
                        .build())
            .toList();
    database.inTransaction(false, c -> store.append(c, list));
  }

  private static Claim.Request request(String worker, int most) {
    return new Claim.Request(worker, most, 1_000_000, Duration.ofMinutes(1));
  }

  private static Map<Long, Decision> delivered(Claim claim) {
    return all(claim, Decision.delivered());
  }

  /** Token and time of the leases that are held. */
  private String leases() {
    return database.query(
        "select string_agg(bucket || ' ' || token, ',' order by bucket) from outbox_bucket where claim_id is not null");
  }

  /** Until it is so; a machine that is busy may need more than one try. */
  private static void sometime(Callable<Boolean> so) {
    await().atMost(PATIENCE).pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(1)).until(so);
  }

  @Test
  @DisplayName("has the same token, and is prolonged when little of it is left")
  void kept() {
    append("key", 5_000);
    Claim[] claim = {store.claim(request("a", 10))};
    String left =
        "select extract(epoch from lease_until - clock_timestamp())::int from outbox_bucket where claim_id is not null";
    sometime(
        () -> {
          String before = leases();
          database.execute(
              "update outbox_bucket set lease_until = clock_timestamp() + interval '10 seconds' where claim_id is not null");
          claim[0] = store.settleAndClaim(claim[0], delivered(claim[0]), request("a", 10)).next();
          assertThat(claim[0].messages()).hasSize(10);
          assertThat(Integer.parseInt(database.query(left))).isGreaterThan(30);
          return leases().equals(before);
        });
  }

  @Test
  @DisplayName("is not kept for ever")
  void givenUp() {
    append("key", 5_000);
    Claim[] claim = {store.claim(request("a", 10))};
    String first = leases();
    sometime(
        () -> {
          append("key", 10);
          claim[0] = store.settleAndClaim(claim[0], delivered(claim[0]), request("a", 10)).next();
          assertThat(claim[0].messages()).hasSize(10);
          return !leases().equals(first);
        });
  }

  @Test
  @DisplayName("leaves a worker that comes later its share")
  void share() {
    for (int i = 0; i < 4; i++) {
      append("key " + i, 1_000);
    }
    Claim[] claim = {store.claim(request("a", 10))};
    sometime(
        () -> {
          claim[0] = store.settleAndClaim(claim[0], delivered(claim[0]), request("a", 10)).next();
          for (int i = 0; i < 4; i++) {
            append("key " + i, 10);
          }
          return !store.claim(request("b", 10)).messages().isEmpty();
        });
  }

  @Test
  @DisplayName("is no longer that of the claim that was settled: a repeated settle changes nothing")
  void repeatedSettle() {
    append("key", 30);
    Claim first = store.claim(request("a", 10));
    Settled settled = store.settleAndClaim(first, delivered(first), request("a", 10));
    assertThat(settled.lost()).isEmpty();
    String before = database.query(CONTENTS);
    assertThat(first.settle(delivered(first)))
        .containsExactlyInAnyOrderElementsOf(delivered(first).keySet());
    assertThat(first.settle(all(first, Decision.deadHaltingKey("late")))).hasSize(10);
    Settled again = store.settleAndClaim(first, delivered(first), request("b", 10));
    assertThat(again.lost()).containsExactlyInAnyOrderElementsOf(delivered(first).keySet());
    assertThat(again.next().messages()).as("all are held").isEmpty();
    assertThat(database.query(CONTENTS)).isEqualTo(before);
    assertThat(settled.next().settle(delivered(settled.next()))).isEmpty();
    assertThat(database.query("select count(*) from outbox_message")).isEqualTo("10");
  }

  @Test
  @DisplayName("may lose the reply that says so: a settle that is repeated does nothing twice")
  void lostReply() {
    sometime(
        () -> {
          database.execute("truncate outbox_message, outbox_blocked_key");
          database.execute("update outbox_bucket set claim_id = null, lease_until = null");
          return losesReply();
        });
  }

  /** Returns whether the lease was kept in the transaction whose reply was lost. */
  private boolean losesReply() {
    // Of one bucket: a key that fails, and one that is delivered and has more.
    append("key", 30);
    append(sameBucket("key"), 1);
    database.execute(
        "update outbox_message set seq = default where aggregate_id = 'key'"); // behind the other
    Claim claim = store.claim(request("a", 10));
    String failing =
        claim.messages().stream()
            .map(StoredMessage::key)
            .filter(k -> !k.equals("key"))
            .findFirst()
            .orElseThrow();
    Map<Long, Decision> decisions = new HashMap<>();
    for (StoredMessage m : claim.messages()) {
      boolean fails = m.key().equals(failing);
      decisions.put(
          m.sequence(), fails ? Decision.retry(Duration.ofHours(1), "no") : Decision.delivered());
    }
    String held = leases();
    faults.loseNextReply();
    assertThatThrownBy(() -> store.settleAndClaim(claim, decisions, request("a", 10)))
        .isInstanceOf(TransientOutboxException.class);
    boolean kept = leases().equals(held);
    String once = database.query("select k::text from outbox_blocked_key k");
    assertThat(once).contains(failing);

    assertThat(claim.settle(decisions)).hasSize(kept ? 0 : 10);

    assertThat(database.query("select k::text from outbox_blocked_key k"))
        .as("when the key that failed is due")
        .isEqualTo(once);
    assertThat(database.query("select attempts from outbox_message where status = 'BLOCKED'"))
        .as("attempts")
        .isEqualTo("1");
    assertThat(database.query("select count(*) from outbox_message where status = 'PENDING'"))
        .isEqualTo("21");
    Claim next = store.claim(request("b", 100));
    assertThat(next.messages()).hasSize(kept ? 21 : 0);
    return kept;
  }

  private String sameBucket(String key) {
    return database.query(
        """
        select k from (select 'other ' || n as k from generate_series(1, 10000) n) k
        where hashtextextended(k, 0) & 63 = hashtextextended('%s', 0) & 63 limit 1
        """
            .formatted(key));
  }

  @Test
  @DisplayName("is used to move a thousand messages of a blocked key out of the way in one call")
  void manyMoves() {
    int[] round = {0};
    sometime(
        () -> {
          String key = "key " + round[0]++;
          append(key, 1);
          Claim head = store.claim(request("a", 10));
          head.settle(all(head, Decision.retry(Duration.ofHours(1), "no")));
          append(key, 1_000);
          Claim claim = store.claim(request("a", 300));
          assertThat(claim.messages()).isEmpty();
          String moved =
              database.query(
                  "select count(*) from outbox_message where status = 'BLOCKED' and aggregate_id = '%s'"
                      .formatted(key));
          claim.settle(Map.of());
          while (store.claim(request("a", 300)).pollAgain()) {}
          assertThat(database.query("select count(*) from outbox_message where status = 'PENDING'"))
              .isEqualTo("0");
          return moved.equals("1001") && !claim.pollAgain();
        });
  }
}
