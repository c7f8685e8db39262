package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.internal.HoldingThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A relay that shows that it lives")
class PresenceTest extends DatabaseTest {
  private static final Duration LEASE = Duration.ofMinutes(5);
  private static final String SESSIONS =
      "from pg_locks where locktype = 'advisory' and classid = 'outbox_bucket'::regclass";

  private final List<Relay> relays = new ArrayList<>();

  /** A relay in a process of its own, as far as the server can see. */
  private final class Relay {
    private final HikariDataSource pool;
    private final Keeper keeper;
    private final Thread holding;
    private final AtomicInteger heard = new AtomicInteger();

    Relay(Duration unclaimed, int connections) {
      HikariConfig config = new HikariConfig();
      database.pool.copyStateTo(config);
      config.setMaximumPoolSize(connections);
      pool = new HikariDataSource(config);
      keeper = PostgresOutboxStore.of(pool).keeper(unclaimed);
      holding = HoldingThread.start(keeper, heard::incrementAndGet);
      relays.add(this);
    }

    Claim claim() {
      return keeper.claim(new Claim.Request("worker", 10, 1_000_000, LEASE));
    }

    Claim awaitClaim() {
      return await().atMost(PATIENCE).until(this::claim, claim -> !claim.messages().isEmpty());
    }

    /** As SIGKILL does: nothing is given back, and the sockets are closed. */
    void kill() {
      holding.interrupt();
      join();
      pool.close();
    }

    private void join() {
      try {
        holding.join();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  @BeforeEach
  void migrate() {
    store.migrate();
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                database.query("select pg_postmaster_start_time() < now() - interval '5 seconds'"),
            "t"::equals);
  }

  @AfterEach
  void stop() {
    relays.forEach(Relay::kill);
  }

  private Relay relay() {
    long before = sessions();
    Relay relay = new Relay(PATIENCE, 4);
    await().atMost(PATIENCE).until(() -> sessions() > before);
    return relay;
  }

  private Relay relayThatHoldsAll() {
    Relay relay = relay();
    awaitHeld(relay.keeper, database);
    return relay;
  }

  private long sessions() {
    return Long.parseLong(database.query("select count(*) " + SESSIONS));
  }

  private void append(String key) {
    database.inTransaction(
        false,
        c ->
            store.append(
                c,
                OutboxMessage.builder()
                    .aggregate("order", key)
                    .eventType("changed")
                    .payload("{}")
                    .build()));
  }

  private static List<Long> sequences(Claim claim) {
    return claim.messages().stream().map(StoredMessage::sequence).toList();
  }

  private static Set<Long> settle(Claim claim) {
    return claim.settle(Map.of(claim.messages().get(0).sequence(), Decision.delivered()));
  }

  @Test
  @DisplayName("is killed, and others have what it held long before its leases end")
  void killed() {
    Relay first = relayThatHoldsAll();
    Relay second = relay();
    append("k");
    Claim claim = first.awaitClaim();
    assertThat(second.claim().messages()).as("stands by").isEmpty();
    first.kill();
    Claim again = second.awaitClaim();
    assertThat(sequences(again)).isEqualTo(sequences(claim));
    assertThat(settle(again)).isEmpty();
  }

  @Test
  @DisplayName("alone is killed, and the next one has what it held")
  void replaced() {
    Relay first = relayThatHoldsAll();
    append("k");
    Claim claim = first.awaitClaim();
    first.kill();
    assertThat(sequences(relay().awaitClaim())).isEqualTo(sequences(claim));
  }

  @Test
  @DisplayName("loses nothing while it lives, nor does one that shows nothing")
  void lives() {
    append("of another that shows nothing");
    Claim unshown = store.claim(new Claim.Request("worker", 10, 1_000_000, LEASE));
    assertThat(unshown.messages()).hasSize(1);
    Relay first = relayThatHoldsAll();
    append("k");
    Claim claim = first.awaitClaim();
    relay().claim();
    relay().kill();
    assertThat(settle(claim)).isEmpty();
    assertThat(settle(unshown)).isEmpty();
    await().atMost(PATIENCE).until(() -> held(database), "64"::equals);
  }

  @Test
  @DisplayName("leaves, and another has all of it")
  void leaves() throws InterruptedException {
    Relay first = relayThatHoldsAll();
    Relay second = relay();
    assertThat(second.claim().messages()).isEmpty();
    first.keeper.leave(PATIENCE);
    append("k");
    Claim claim = second.awaitClaim();
    assertThat(first.claim().messages()).isEmpty();
    assertThat(settle(claim)).isEmpty();
    first.keeper.close();
  }

  @Test
  @DisplayName("comes back when somebody ends its session")
  void ended() {
    Relay relay = relay();
    String before = database.query("select pid " + SESSIONS);
    database.execute("select pg_terminate_backend(" + before + ")");
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                database.query("select min(pid) filter (where pid <> " + before + ") " + SESSIONS)
                    != null);
    append("k");
    assertThat(settle(relay.awaitClaim())).isEmpty();
  }

  @Test
  @DisplayName("announces what was committed to who holds, as often as it changes hands")
  void announces() throws InterruptedException {
    Relay first = relayThatHoldsAll();
    Relay second = relay();
    awaitHeard(second, first);
    assertThat(second.claim().messages()).isEmpty();
    first.keeper.leave(PATIENCE);
    awaitHeard(first, second);
  }

  private static void awaitHeard(Relay from, Relay to) {
    await()
        .atMost(PATIENCE)
        .until(
            () -> {
              from.keeper.announce();
              return to.heard.get() > 0;
            });
  }

  @Test
  @DisplayName("takes no connection of a pool that has few, and then its leases last")
  void smallPool() {
    Relay relay = new Relay(PATIENCE, 3);
    relay.join();
    append("k");
    relay.awaitClaim();
    assertThat(
            database.query(
                "select substr(claim_id::text, 15, 1) from outbox_bucket where claim_id is not null"))
        .isEqualTo("4");
  }

  @Test
  @DisplayName("leaves no session behind, and holds no snapshot")
  void leavesNothing() {
    Relay relay = relay();
    assertThat(
            database.query(
                "select count(backend_xmin) from pg_stat_activity where pid in (select pid "
                    + SESSIONS
                    + ") and state = 'idle'"))
        .isEqualTo("0");
    relay.holding.interrupt();
    relay.join();
    await().atMost(PATIENCE).until(() -> sessions() == 0);
  }
}
