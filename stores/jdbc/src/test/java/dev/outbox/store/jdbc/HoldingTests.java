package dev.outbox.store.jdbc;

import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.Outbox;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.tck.internal.HoldingThread;
import java.sql.Connection;
import java.time.Duration;
import java.util.Map;
import javax.sql.DataSource;

/** Tests with relays that hold buckets. */
public abstract class HoldingTests extends DatabaseTests {
  protected static final Duration PATIENCE = Duration.ofMinutes(1);

  protected HoldingTests(TestedStore tested) {
    super(tested);
  }

  @SuppressWarnings("unchecked") // all of these stores append in connections
  protected final KeepingStore<Connection> keeping(DataSource dataSource) {
    return (KeepingStore<Connection>) builder(dataSource).build();
  }

  protected static Claim.Request ofWorker() {
    return new Claim.Request("worker", 100, 1_000_000, Duration.ofMinutes(5));
  }

  /** Delivers the only message that is due, and goes on. */
  public static void deliverOne(Keeper keeper) {
    Claim claim = claimOne(keeper, ofWorker());
    Map<Long, Decision> delivered = all(claim, Decision.delivered());
    assertThat(keeper.settleAndClaim(claim, delivered, ofWorker()).lost()).isEmpty();
  }

  /** Claims the only message that is due. */
  public static Claim claimOne(Keeper keeper, Claim.Request request) {
    long began = System.nanoTime();
    Claim claim = keeper.claim(request);
    while (claim.messages().isEmpty() && System.nanoTime() - began < PATIENCE.toNanos()) {
      claim = keeper.claim(request);
    }
    assertThat(claim.messages()).hasSize(1);
    return claim;
  }

  /**
   * Of a relay that holds all buckets. There must be no other, no message, and a pool of four
   * connections at least.
   *
   * @param in where the store's tables are
   */
  public static Keeper keeperOfAll(
      KeepingStore<Connection> store, TestDatabase in, Duration unclaimed) {
    Keeper keeper = store.keeper(unclaimed);
    HoldingThread.start(keeper);
    awaitHeld(keeper, in);
    return keeper;
  }

  /** Of one session for all that workers do, and another one for the thread that holds. */
  protected static DataSource heldApart(DataSource ofWorkers, DataSource ofHolder) {
    return Intercepted.source(
        () -> {
          boolean holds = Thread.currentThread().getName().equals(HoldingThread.NAME);
          return (holds ? ofHolder : ofWorkers).getConnection();
        });
  }

  protected static void awaitHeld(Keeper keeper, TestDatabase in) {
    await()
        .atMost(PATIENCE)
        .until(
            () -> {
              assertThat(keeper.claim(ofWorker()).messages()).isEmpty();
              return held(in);
            },
            "64"::equals);
  }

  protected static String held(TestDatabase in) {
    return in.query("select count(*) from outbox_bucket where claim_id is not null");
  }

  protected final void append(String key) {
    append(database, store, key);
  }

  protected static void append(TestDatabase database, Outbox<Connection> store, String key) {
    database.inTransaction(false, c -> store.append(c, of(key).build()));
  }
}
