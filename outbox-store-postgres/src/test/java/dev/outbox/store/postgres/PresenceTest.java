package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.spi.store.Claim;
import dev.outbox.store.jdbc.PresenceTests;
import dev.outbox.store.jdbc.internal.SqlDialect;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A relay that shows that it lives")
class PresenceTest extends PresenceTests {

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
