package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.store.jdbc.DatabaseTests;
import dev.outbox.store.jdbc.TestDatabase;
import dev.outbox.tck.internal.HoldingThread;
import java.lang.reflect.Proxy;
import java.time.Duration;
import javax.sql.DataSource;

/** Tests of what only PostgreSQL has. */
abstract class DatabaseTest extends DatabaseTests {
  static final Duration PATIENCE = Duration.ofMinutes(1);

  DatabaseTest() {
    super(new Postgres());
  }

  /** Claims the only message that is due. */
  static Claim claimOne(Keeper keeper, Claim.Request request) {
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
  static Keeper keeperOfAll(PostgresOutboxStore store, TestDatabase in, Duration unclaimed) {
    Keeper keeper = store.keeper(unclaimed);
    HoldingThread.start(keeper);
    awaitHeld(keeper, in);
    return keeper;
  }

  /** Of one session for all that workers do, and another one for the thread that holds. */
  static DataSource heldApart(DataSource ofWorkers, DataSource ofHolder) {
    return (DataSource)
        Proxy.newProxyInstance(
            DataSource.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("isWrapperFor")) {
                return false; // so that nobody asks how many connections there are
              }
              boolean holds = Thread.currentThread().getName().equals(HoldingThread.NAME);
              return method.invoke(holds ? ofHolder : ofWorkers, arguments);
            });
  }

  static void awaitHeld(Keeper keeper, TestDatabase in) {
    await()
        .atMost(PATIENCE)
        .until(
            () -> {
              Claim.Request request =
                  new Claim.Request("worker", 100, 1_000_000, Duration.ofMinutes(5));
              assertThat(keeper.claim(request).messages()).isEmpty();
              return held(in);
            },
            "64"::equals);
  }

  static String held(TestDatabase in) {
    return in.query("select count(*) from outbox_bucket where lease_until > now()");
  }
}
