package dev.outbox.store.jdbc;

import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.tck.internal.HoldingThread;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("What a relay holds")
public abstract class KeeperTests extends HoldingTests {
  protected static final Duration LONG = Duration.ofMinutes(5);

  protected KeepingStore<Connection> keeping;
  protected Keeper keeper;

  protected KeeperTests(TestedStore tested) {
    super(tested);
  }

  /**
   * Makes transactions serializable, and read-only where that can be, unless they say otherwise.
   */
  protected abstract void makeUnusual(HikariConfig config);

  /** What an update of a message sets, so that it is due as one that was delayed. */
  protected abstract String delayedUntilNow();

  @BeforeEach
  void keep() {
    keeping = keeping(database.pool);
    keeper = keeperOfAll(keeping, database, LONG);
  }

  @AfterEach
  void close() {
    keeper.close();
  }

  protected static Claim.Request request(Duration lease) {
    return new Claim.Request("worker", 100, 1_000_000, lease);
  }

  /** Settles what comes, asks again where it is told to, and returns the sequences. */
  protected static List<Long> deliver(Claim.Source source) {
    List<Long> sequences = new ArrayList<>();
    Claim claim = source.claim(request(LONG));
    do {
      claim.messages().forEach(message -> sequences.add(message.sequence()));
      Settled settled =
          source.settleAndClaim(claim, all(claim, Decision.delivered()), request(LONG));
      assertThat(settled.lost()).isEmpty();
      claim = settled.next();
    } while (!claim.messages().isEmpty() || claim.pollAgain());
    return sequences;
  }

  protected final void serve(String key) {
    append(key);
    assertThat(deliver(keeper)).hasSize(1);
  }

  private void endLeases() {
    database.execute("update outbox_bucket set lease_until = leased_at where claim_id is not null");
  }

  private String held() {
    return held(database);
  }

  private long leases() {
    return Long.parseLong(database.query("select sum(token) from outbox_bucket"));
  }

  @Test
  @DisplayName("needs no new lease for its messages")
  void sameToken() {
    long leases = leases();
    for (int i = 0; i < 20; i++) {
      append("key " + i);
      assertThat(deliver(keeper)).hasSize(1);
    }
    assertThat(leases()).isEqualTo(leases);
    assertThat(database.query("select count(*) from outbox_message")).isEqualTo("0");
  }

  @Test
  @DisplayName("is not handed out after a lease that ended, but leased anew")
  void ended() {
    serve("a");
    append("a");
    endLeases();
    Claim claim = claimOne(keeper, request(LONG));
    assertThat(claim.settle(all(claim, Decision.delivered()))).isEmpty();
  }

  @Test
  @DisplayName("is soon all that it claims, also when it begins beside a backlog")
  void goesOver() {
    keeper.close();
    for (int i = 0; i < 50; i++) {
      append("key " + i);
    }
    try (Keeper late = keeping.keeper(LONG)) {
      Claim.Request one = new Claim.Request("worker", 1, 1_000_000, LONG);
      Claim alone = late.claim(one); // for itself, because the relay cannot be seen yet
      HoldingThread.start(late);
      await().atMost(PATIENCE).until(() -> heldWithSession() > 0);
      Claim next = late.settleAndClaim(alone, all(alone, Decision.delivered()), one).next();
      await().atMost(PATIENCE).until(() -> heldWithSession() == 64);
      assertThat(next.messages()).hasSize(1);
      assertThat(database.query("select count(*) from outbox_message")).isEqualTo("49");
      next.settle(all(next, Decision.delivered()));
    }
  }

  /** How many buckets have a claim id that names a session. */
  private int heldWithSession() {
    return Integer.parseInt(
        database.query(
            "select count(*) from outbox_bucket where substr(cast(claim_id as char(36)), 15, 1) = '8'"));
  }

  @Test
  @DisplayName("is held whatever the pool's connections have set")
  void poolsSettings() {
    HikariConfig config = new HikariConfig();
    database.pool.copyStateTo(config);
    config.setAutoCommit(false);
    makeUnusual(config);
    try (HikariDataSource pool = new HikariDataSource(config)) {
      keeper.close();
      Keeper lends = keeperOfAll(keeping(pool), database, LONG);
      for (int i = 0; i < 5; i++) {
        append("a");
        assertThat(deliver(lends)).hasSize(1);
      }
      assertThat(held()).isEqualTo("64");
      lends.close();
      assertThat(held()).isEqualTo("0");
    }
  }

  @Test
  @DisplayName("goes on with what became due while its messages were published")
  void dueMeanwhile() {
    serve("a");
    append("a");
    Claim claim = claimOne(keeper, request(LONG));
    append("a");
    database.execute(
        "update outbox_message set "
            + delayedUntilNow()
            + " where seq > "
            + claim.messages().get(0).sequence());
    Settled settled = keeper.settleAndClaim(claim, all(claim, Decision.delivered()), request(LONG));
    assertThat(settled.lost()).isEmpty();
    assertThat(deliver(keeper)).hasSize(1);
  }
}
