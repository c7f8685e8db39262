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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A relay that shows that it lives")
class PresenceTest extends DatabaseTest {
  private static final Duration LEASE = Duration.ofMinutes(5);
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final String SESSIONS =
      "from pg_locks where locktype = 'advisory' and classid = 'outbox_bucket'::regclass";

  private final List<Relay> relays = new ArrayList<>();

  /** A relay in a process of its own, as far as the server can see. */
  private final class Relay {
    private final HikariDataSource pool;
    private final Keeper keeper;
    private final Thread holding;

    Relay(Duration idle, int connections) {
      HikariConfig config = new HikariConfig();
      database.pool.copyStateTo(config);
      config.setMaximumPoolSize(connections);
      pool = new HikariDataSource(config);
      keeper = PostgresOutboxStore.of(pool).keeper(idle);
      holding = new Thread(this::hold);
      holding.start();
      relays.add(this);
    }

    @SuppressWarnings("EmptyCatch")
    private void hold() {
      boolean again = true;
      while (again) {
        try {
          keeper.hold();
          again = false;
        } catch (InterruptedException e) {
          again = false;
        } catch (RuntimeException ignored) {
          // Its session was ended: as a relay does, it comes back.
        }
      }
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

  private Relay relay(Duration idle) {
    long before = sessions();
    Relay relay = new Relay(idle, 4);
    await().atMost(PATIENCE).until(() -> sessions() > before);
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

  @ParameterizedTest(name = "and keeps keys for {0} s")
  @ValueSource(ints = {0, 300})
  @DisplayName("is killed, and others have what it held long before its leases end")
  void killed(int idle) {
    Relay first = relay(Duration.ofSeconds(idle));
    Relay second = relay(Duration.ofSeconds(idle));
    append("k");
    Claim claim = first.awaitClaim();
    first.kill();
    Claim again = second.awaitClaim();
    assertThat(sequences(again)).isEqualTo(sequences(claim));
    assertThat(settle(again)).isEmpty();
  }

  @Test
  @DisplayName("alone is killed, and the next one has what it held")
  void replaced() {
    Relay first = relay(Duration.ZERO);
    append("k");
    Claim claim = first.awaitClaim();
    first.kill();
    assertThat(sequences(relay(Duration.ZERO).awaitClaim())).isEqualTo(sequences(claim));
  }

  @Test
  @DisplayName("loses nothing while it lives, nor does one that shows nothing")
  void lives() {
    Relay first = relay(Duration.ZERO);
    relay(Duration.ZERO);
    append("k");
    Claim claim = first.awaitClaim();
    append("of another that shows nothing");
    Claim unshown = store.claim(new Claim.Request("worker", 10, 1_000_000, LEASE));
    assertThat(unshown.messages()).hasSize(1);
    Relay gone = relay(Duration.ZERO);
    append("of one that is killed");
    gone.awaitClaim();
    gone.kill();
    await()
        .atMost(PATIENCE)
        .until(
            () -> database.query("select count(*) from outbox_bucket where lease_until > now()"),
            "2"::equals);
    assertThat(settle(claim)).isEmpty();
    assertThat(settle(unshown)).isEmpty();
  }

  @Test
  @DisplayName("comes back when somebody ends its session")
  void ended() {
    Relay relay = relay(Duration.ZERO);
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
  @DisplayName("takes no connection of a pool that has few, and then its leases last")
  void smallPool() {
    Relay relay = new Relay(Duration.ZERO, 3);
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
    Relay relay = relay(Duration.ZERO);
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
