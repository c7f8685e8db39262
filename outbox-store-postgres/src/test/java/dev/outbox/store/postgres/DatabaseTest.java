package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.store.jdbc.DatabaseTests;
import dev.outbox.store.jdbc.TestDatabase;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/** Tests of what only PostgreSQL has. */
abstract class DatabaseTest extends DatabaseTests {
  static final Duration PATIENCE = Duration.ofMinutes(1);

  private static final String HOLDS = "holds";

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

  /** Holds in a thread of its own, as a relay does, until the keeper is closed. */
  static Thread hold(Keeper keeper) {
    Thread thread =
        new Thread(
            () -> {
              boolean again = true;
              while (again) {
                try {
                  keeper.hold();
                  again = false;
                } catch (InterruptedException e) {
                  again = false;
                } catch (RuntimeException e) { // its session was ended
                  LockSupport.parkNanos(10_000_000);
                  again = !Thread.interrupted();
                }
              }
            },
            HOLDS);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  /**
   * Of a relay that holds all buckets. There must be no other, no message, and a pool of four
   * connections at least.
   *
   * @param in where the store's tables are
   */
  static Keeper keeperOfAll(PostgresOutboxStore store, TestDatabase in, Duration unclaimed) {
    Keeper keeper = store.keeper(unclaimed);
    hold(keeper);
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
              boolean holds = Thread.currentThread().getName().equals(HOLDS);
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
