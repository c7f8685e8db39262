package dev.outbox.store.postgres;

import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.store.jdbc.KeeperTests;
import dev.outbox.tck.internal.HoldingThread;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

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

  private static void execute(Connection connection, String sql) {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  @DisplayName("is found also when its producer did not wait for the disk")
  void asynchronous() {
    serve("a");
    for (int i = 0; i < 20; i++) {
      database.inTransaction(
          false,
          c -> {
            execute(c, "set local synchronous_commit = off");
            store.append(c, message());
          });
      assertThat(deliver(keeper)).hasSize(1);
    }
  }

  @Test
  @DisplayName("is given back with its messages where the server does not say what is durable")
  void cannotTell() {
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
          create function pg_current_wal_flush_lsn() returns pg_lsn language plpgsql as
          'begin raise feature_not_supported; end'
          """);
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
