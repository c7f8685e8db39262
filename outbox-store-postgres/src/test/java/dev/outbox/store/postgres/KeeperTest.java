package dev.outbox.store.postgres;

import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.store.jdbc.KeeperTests;
import dev.outbox.store.jdbc.TestDatabase;
import dev.outbox.tck.internal.HoldingThread;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("What a relay holds")
class KeeperTest extends KeeperTests {

  KeeperTest() {
    super(new Postgres());
  }

  @Override
  protected void makeUnusual(HikariConfig config) {
    config.setConnectionInitSql(
        """
        set default_transaction_isolation = serializable;
        set default_transaction_read_only = on;
        commit
        """);
  }

  @Override
  protected String delayedUntilNow() {
    return "status = 'SCHEDULED', available_at = now()";
  }

  @Test
  @DisplayName("is found also when its producer did not wait for the disk")
  void asynchronous() {
    serve("a");
    for (int i = 0; i < 20; i++) {
      database.inTransaction(
          false,
          c -> {
            TestDatabase.execute(c, "set local synchronous_commit = off");
            store.append(c, message());
          });
      assertThat(deliver(keeper)).hasSize(1);
    }
  }

  @Test
  @DisplayName("is read from its first message when somebody has set the sequence back")
  void sequenceIsSetBack() {
    for (int i = 0; i < 20; i++) {
      serve("a");
    }
    database.execute("select setval(pg_get_serial_sequence('outbox_message', 'seq'), 1)");
    serve("a");
  }

  @Test
  @DisplayName("is held on when a right comes back that was missing for a while")
  void rightComesBack() {
    keeper.close();
    String relay = database.schema() + "_relay";
    database.execute(
        "create role " + relay,
        "grant usage on schema %s to %s".formatted(database.schema(), relay),
        store.grants(relay, relay));
    PostgresOutboxStore asRelay = PostgresOutboxStore.of(RoleDataSource.of(database.pool, relay));
    try (Keeper holds = keeperOfAll(asRelay, database, LONG)) {
      database.execute("revoke select on outbox_message from " + relay);
      assertThatThrownBy(() -> holds.claim(request(LONG)))
          .hasMessageContaining("grant select")
          .hasMessageContaining("outbox_message");
      database.execute("grant select on outbox_message to " + relay);
      append("a");
      assertThat(deliver(holds)).hasSize(1);
      assertThat(held(database)).isEqualTo("64");
    } finally {
      database.execute("drop owned by " + relay, "drop role " + relay);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "0A000, Function pg_current_wal_flush_lsn() is currently not supported for Aurora",
    "55000, wal_level must be set to logical",
    "42501, permission denied for function pg_current_wal_flush_lsn"
  })
  @DisplayName("is given back with its messages where the server does not say what is durable")
  void cannotTell(String state, String problem) {
    try (Database other =
        new Database(
            database.server(),
            config ->
                config.setConnectionInitSql(
                    "select set_config('search_path', current_schema() || ', pg_catalog', false)"))) {
      PostgresOutboxStore there = PostgresOutboxStore.of(other.pool);
      there.migrate();
      other.execute(
          """
          create function refuse() returns pg_lsn language plpgsql as
          'begin raise ''%s'' using errcode = ''%s''; end';
          create function pg_current_wal_flush_lsn() returns pg_lsn language sql as 'select refuse()'
          """
              .formatted(problem, state));
      Keeper lends = there.keeper(LONG);
      HoldingThread.start(lends);
      await()
          .atMost(PATIENCE)
          .until(
              () -> {
                append(other, there, "a");
                Claim claim = claimOne(lends, request(LONG));
                assertThat(claim.settle(all(claim, Decision.delivered()))).isEmpty();
                return held(other);
              },
              "0"::equals);
      for (int i = 0; i < 5; i++) {
        append(other, there, "a");
        assertThat(deliver(lends)).hasSize(1);
        assertThat(held(other)).isEqualTo("0");
      }
    }
  }
}
