package dev.outbox.store.postgres;

import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.OutboxMessage;
import dev.outbox.PermanentOutboxException;
import dev.outbox.embedded.EmbeddedPostgres;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.core.internal.Database.Leases;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.jdbc.DatabaseTests;
import dev.outbox.store.jdbc.Intercepted;
import dev.outbox.tck.internal.HoldingThread;
import dev.outbox.tck.internal.Jdbc;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;
import org.postgresql.ds.PGSimpleDataSource;

/** A primary is lost, and what takes its place is a standby that lags behind. */
@DisplayName("After an asynchronous failover")
class FailoverTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Claim.Request ALL = request(1_000);

  /** Whoever connects comes to the primary of the moment. */
  private final PGSimpleDataSource primary = new PGSimpleDataSource();

  private final VariantStore store =
      new VariantStore(primary, new KeepsLeases().of(VariantStore.right()));
  private Connection pooled;
  private EmbeddedPostgres first;
  private EmbeddedPostgres second;

  /**
   * Leases that are never given up for their age, so that one is in force when the primary goes.
   */
  private static final class KeepsLeases extends Variant {
    @Override
    List<Lease> lease(
        Leases<Handle> right, Handle handle, UUID claimId, Claim.Request request, int most) {
      long later = System.nanoTime() + Duration.ofHours(1).toNanos();
      return super.lease(right, handle, claimId, request, most).stream()
          .map(
              l ->
                  new Lease(
                      l.bucket(),
                      l.token(),
                      l.state(),
                      l.scheduled(),
                      l.blocked(),
                      l.single(),
                      l.left(),
                      l.batches(),
                      later))
          .toList();
    }
  }

  @BeforeEach
  void start() {
    try {
      first = EmbeddedPostgres.start();
    } catch (UnsupportedOperationException e) {
      throw new TestAbortedException("skipped: " + e.getMessage());
    }
    use(first);
    query(PostgresOutboxStore.of(primary).ddl());
  }

  @AfterEach
  void close() {
    for (EmbeddedPostgres server : new EmbeddedPostgres[] {first, second}) {
      if (server != null) {
        server.close();
      }
    }
  }

  private void use(EmbeddedPostgres server) {
    primary.setUrl(server.jdbcUrl());
    primary.setUser(server.user());
    primary.setPassword(server.password());
  }

  private static Claim.Request request(int most) {
    return new Claim.Request("worker", most, 10_000_000, Duration.ofMinutes(10));
  }

  private List<UUID> append(int messages) {
    List<OutboxMessage> list =
        IntStream.range(0, messages).mapToObj(i -> DatabaseTests.of("key").build()).toList();
    Jdbc.inTransaction(primary, c -> store.append(c, list));
    return list.stream().map(OutboxMessage::id).toList();
  }

  private static Map<Long, Decision> delivered(Claim claim) {
    return all(claim, Decision.delivered());
  }

  private static List<UUID> ids(Claim claim) {
    return claim.messages().stream().map(m -> m.message().id()).toList();
  }

  private static List<Long> sequences(Claim claim) {
    return claim.messages().stream().map(StoredMessage::sequence).toList();
  }

  private String query(String sql) {
    return query(primary, sql);
  }

  private static String query(PGSimpleDataSource server, String sql) {
    try (Connection connection = server.getConnection();
        Statement statement = connection.createStatement()) {
      if (!statement.execute(sql)) {
        return "";
      }
      try (ResultSet rows = statement.getResultSet()) {
        return rows.next() ? rows.getString(1) : "";
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Has a standby for a moment, which gets everything up to now and nothing of what comes. */
  private void leaveBehindAStandby() {
    String now = query("select pg_current_wal_flush_lsn()");
    PGSimpleDataSource standby = new PGSimpleDataSource();
    standby.setUrl(second.jdbcUrl());
    standby.setUser(second.user());
    standby.setPassword(second.password());
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                query(standby, "select pg_last_wal_replay_lsn() >= '" + now + "'::pg_lsn")
                    .equals("t"));
    second.kill();
  }

  private void failOver() {
    first.kill();
    second.restart();
    use(second);
    assertThat(query("select pg_promote()")).as("promoted").isEqualTo("t");
  }

  /** The claim after this one, when it was delivered. */
  private Claim next(Claim claim, Claim.Request request) {
    var settled = store.settleAndClaim(claim, delivered(claim), request);
    assertThat(settled.lost()).as("lost").isEmpty();
    return settled.next();
  }

  @Test
  @DisplayName(
      "a lease that came along settles nothing that was appended since, and passes nothing by")
  void leaseComesAlong() {
    first.stop();
    second = EmbeddedPostgres.builder().standbyOf(first).start();
    first.restart();
    List<UUID> before = append(20);
    Claim claim = store.claim(request(10));
    assertThat(ids(claim)).isEqualTo(before.subList(0, 10));
    leaveBehindAStandby();

    append(180);
    while (sequences(claim).get(0) < 80) {
      claim = next(claim, request(20));
    }
    failOver();
    List<UUID> since = new ArrayList<>();
    while (!sequences(claim).contains(lastSequence())) {
      since.addAll(append(1));
    }
    since.addAll(append(20));

    List<UUID> came = new ArrayList<>();
    for (Claim more = next(claim, ALL); !more.messages().isEmpty(); more = next(more, ALL)) {
      came.addAll(ids(more));
    }
    List<UUID> all = new ArrayList<>(before);
    all.addAll(since);
    assertThat(came).as("what came of what the new primary has").isEqualTo(all);
    assertThat(query("select count(*) from outbox_message")).as("left").isEqualTo("0");
  }

  private long lastSequence() {
    return Long.parseLong(
        query("select coalesce(pg_sequence_last_value('outbox_message_seq_seq'), 0)"));
  }

  @Test
  @DisplayName("or any restart the marks that were stored before are forgotten, and leases stay")
  void restart() {
    append(20);
    Claim claim = next(next(store.claim(request(5)), request(5)), request(5));
    first.stop();
    first.restart();
    assertThat(claim.settle(delivered(claim))).as("lost by a restart").isEmpty();
    query("update outbox_bucket set low_water = 18 where low_water_history <> ''");
    Claim rest = store.claim(ALL);
    assertThat(sequences(rest)).isEqualTo(List.of(16L, 17L, 18L, 19L, 20L));
  }

  /** A pool of one connection, which it opens anew when that is closed. */
  private DataSource pool() {
    return Intercepted.source(
        () -> {
          if (Thread.currentThread().getName().equals(HoldingThread.NAME)) {
            return primary.getConnection();
          }
          if (pooled == null || pooled.isClosed()) {
            pooled = primary.getConnection();
          }
          return Intercepted.of(
              pooled,
              (target, method, arguments) ->
                  target == pooled && method.getName().equals("close")
                      ? null
                      : method.invoke(target, arguments));
        });
  }

  private void assertComesBackFromStandby(Claim.Source source) throws SQLException {
    pooled.close();
    use(second);
    pooled = primary.getConnection();
    use(first);
    assertThatThrownBy(() -> source.claim(ALL))
        .isInstanceOf(PermanentOutboxException.class)
        .hasMessageStartingWith("the transaction is read-only");
    assertThat(pooled.isClosed()).as("whether the connection to the standby is ended").isTrue();
    List<UUID> appended = append(1);
    Claim claim = source.claim(ALL);
    assertThat(ids(claim)).isEqualTo(appended);
    assertThat(claim.settle(delivered(claim))).isEmpty();
  }

  @Test
  @DisplayName("a connection that came to a standby is ended, and the next comes to the primary")
  void comesToStandby() throws SQLException {
    first.stop();
    second = EmbeddedPostgres.builder().standbyOf(first).start();
    first.restart();
    PostgresOutboxStore claims = PostgresOutboxStore.of(pool());
    try (Keeper looks = claims.keeper(PATIENCE)) {
      HoldingThread.start(looks);
      await()
          .atMost(PATIENCE)
          .until(
              () -> {
                assertThat(looks.claim(ALL).messages()).isEmpty();
                return query("select count(*) from outbox_bucket where claim_id is not null");
              },
              "64"::equals);
      assertComesBackFromStandby(looks);
    }
    assertComesBackFromStandby(claims);
  }
}
