package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.spi.store.KeepingStore.Uncommitted;
import dev.outbox.spi.store.KeepingStore.Uncommitted.Committed;
import dev.outbox.store.jdbc.PresenceTests;
import dev.outbox.store.jdbc.TestDatabase;
import dev.outbox.store.jdbc.internal.SqlDialect;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;

@DisplayName("A relay that shows that it lives")
class PresenceTest extends PresenceTests {

  private static final OutboxMessage MESSAGE = of("k").build();

  PresenceTest() {
    super(new Postgres());
  }

  @Override
  protected SqlDialect dialect() {
    return VariantStore.right();
  }

  @Override
  protected boolean isSettled() {
    return "t"
        .equals(database.query("select pg_postmaster_start_time() < now() - interval '5 seconds'"));
  }

  @Override
  protected Set<Long> sessions() {
    String pids =
        database.query(
            "select coalesce(string_agg(pid::text, ','), '') from pg_locks"
                + " where locktype = 'advisory' and classid = 'outbox_bucket'::regclass");
    return Arrays.stream(pids.split(","))
        .filter(pid -> !pid.isEmpty())
        .map(Long::valueOf)
        .collect(Collectors.toSet());
  }

  @Override
  protected void end(long session) {
    database.query("select pg_terminate_backend(" + session + ")");
  }

  @Override
  protected String impatient(String sql) {
    return sql.replace("'30s'", "'2s'");
  }

  @Override
  protected String sessionQuery() {
    return "select pg_backend_pid() || ' ' || current_setting('idle_session_timeout')";
  }

  @Override
  protected int snapshots(Set<Long> sessions) {
    return Integer.parseInt(
        database.query(
            "select count(backend_xmin) from pg_stat_activity where state = 'idle' and pid in (%s)"
                .formatted(sessions.toString().replaceAll("[\\[\\]]", ""))));
  }

  @Test
  @DisplayName("announces what was committed to who holds, as often as it changes hands")
  void announces() throws InterruptedException {
    Relay first = relayThatHoldsAll();
    Relay second = relay();
    awaitHeard(second, first);
    assertThat(second.keeper.claim(new Claim.Request("worker", 10, 1_000_000, LEASE)).messages())
        .isEmpty();
    first.keeper.leave(PATIENCE);
    awaitHeard(first, second);
  }

  @Test
  @DisplayName("says where a message is, once its commit has waited for the disk")
  void announcesWhere() throws SQLException {
    relayThatHoldsAll();
    Keeper keeper = relay().keeper;
    await().atMost(PATIENCE).until(keeper::standsBy);
    try (Connection listener = database.pool.getConnection();
        Statement statement = listener.createStatement()) {
      PGConnection heard = listener.unwrap(PGConnection.class);
      statement.execute(
          database.query("select 'listen outbox_' || 'outbox_bucket'::regclass::oid"));
      assertThat(append(keeper, "select 1")).isEqualTo(Committed.ELSEWHERE);
      String place = database.query("select seq || ':' || bucket from outbox_message");
      assertThat(awaitAnnouncement(heard)).isEqualTo(place);
      assertThat(append(keeper, "set local synchronous_commit = off")).isEqualTo(Committed.UNKNOWN);
      assertThat(awaitAnnouncement(heard)).isEmpty();
      statement.execute("unlisten *");
    }
  }

  @Test
  @DisplayName("leaves what nobody holds to its own claims")
  void nobodyHolds() {
    assertThat(append(relay().keeper, "select 1")).isEqualTo(Committed.UNKNOWN);
  }

  @Test
  @DisplayName("leaves a session as it is in which nobody can see it")
  void cannotBeSeen() throws SQLException {
    try (Connection other = database.pool.getConnection();
        Statement statement = other.createStatement();
        Handle handle = handle()) {
      String before = silence(handle);
      statement.execute(
          "select pg_advisory_lock('outbox_bucket'::regclass::oid::bigint::bit(32)::int, 7)");
      try {
        assertThat(holding().begin(handle, 7)).isFalse();
        assertThat(silence(handle)).isEqualTo(before);
      } finally {
        statement.execute("select pg_advisory_unlock_all()");
      }
      assertThat(holding().begin(handle, 7)).as("it was the lock").isTrue();
      holding().leave(handle, 7);
      assertThat(silence(handle)).isEqualTo(before);
    }
  }

  private static String silence(Handle session) {
    return session.select("show idle_session_timeout").mapTo(String.class).one();
  }

  /** As a relay does it. */
  private Committed append(Keeper keeper, String before) {
    AtomicReference<Uncommitted> uncommitted = new AtomicReference<>();
    database.inTransaction(
        false,
        c -> {
          TestDatabase.execute(c, before);
          uncommitted.set(((PostgresOutboxStore) store).append(keeper, c, List.of(MESSAGE)));
        });
    Committed committed = uncommitted.get().committed();
    if (committed == Committed.UNKNOWN) {
      assertThat(keeper.announce()).isTrue();
    }
    return committed;
  }

  private static String awaitAnnouncement(PGConnection listener) {
    List<String> heard = new ArrayList<>();
    await()
        .atMost(PATIENCE)
        .until(
            () -> {
              Arrays.stream(listener.getNotifications(100))
                  .forEach(announced -> heard.add(announced.getParameter()));
              return !heard.isEmpty();
            });
    assertThat(heard).hasSize(1);
    return heard.get(0);
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
}
