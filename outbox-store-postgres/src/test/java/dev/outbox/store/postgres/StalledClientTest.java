package dev.outbox.store.postgres;

import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.outbox.OutboxMessage;
import dev.outbox.embedded.ChildJvm;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.postgres.StalledClient.Place;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A process that is stopped at an exact place of a claim or a settle holds nothing back for longer
 * than about its lease (C4), and when it goes on it changes nothing (S1).
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Execution(ExecutionMode.CONCURRENT) // each waits for seconds, in a schema of its own
class StalledClientTest {
  static final Duration LEASE = Duration.ofSeconds(2);
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int KEYS = 4;

  private DatabaseServer server;

  @BeforeAll
  void startServer() {
    assumeTrue(ChildJvm.canStop(), "Windows has no SIGSTOP, so no client can be stopped here");
    server = DatabaseServer.postgres();
  }

  @AfterAll
  void stopServer() throws Exception {
    if (server != null) {
      server.close();
    }
  }

  @ParameterizedTest
  @EnumSource
  void somebodyElseTakesOver(Place place) {
    try (Other other = new Other(server)) {
      boolean large = place == Place.CLAIM_WHILE_A_LARGE_RESULT_IS_ON_ITS_WAY;
      if (large) {
        assumeTrue(
            other.hasTcpUserTimeout(),
            "the server's system has no TCP_USER_TIMEOUT: such a client is not noticed there");
      }
      Set<Long> all = other.append(100, large ? 200_000 : 100);
      try (ChildJvm client = start(other, place)) {
        standsStill(client, place);
        client.stop();

        await().atMost(PATIENCE).until(() -> other.claims().equals(all));

        Set<String> before = other.contents();
        client.go();
        client.send("go on");
        assertThat(lines(client)).allSatisfy(line -> assertRefused(line, place, all));
        assertThat(client.exitCode()).as("exit code; it said: %s", client.said()).isZero();
        assertThat(other.contents()).isEqualTo(before);
      }
      other.settleAll();
      assertThat(other.query("select count(*) from outbox_message")).isEqualTo("0");
      assertThat(other.query("select count(*) from outbox_blocked_key")).isEqualTo("0");
    }
  }

  @Test
  void nobodyTookOver() {
    try (Other other = new Other(server)) {
      other.append(100, 100);
      try (ChildJvm client = start(other, Place.BETWEEN_CLAIM_AND_SETTLE)) {
        standsStill(client, Place.BETWEEN_CLAIM_AND_SETTLE);
        client.stop();
        String live = "select count(*) from outbox_bucket where lease_until > now()";
        await().atMost(PATIENCE).until(() -> other.query(live).equals("0"));

        client.go();
        client.send("go on");
        assertThat(client.line()).as("a late settle that is accepted (C4)").isEqualTo("lost []");
        assertThat(client.line()).startsWith("then claimed ");
        assertThat(client.exitCode()).isZero();
      }
      assertThat(other.query("select count(*) from outbox_message where status = 'DEAD'"))
          .isEqualTo("50");
    }
  }

  private ChildJvm start(Other other, Place place) {
    return start(other, place, server, "");
  }

  /**
   * @param more of the URL
   */
  static ChildJvm start(Other other, Place place, DatabaseServer server, String more) {
    Map<String, String> config = new HashMap<>();
    config.put("url", server.jdbcUrl() + (server.jdbcUrl().contains("?") ? "&" : "?") + more);
    config.put("user", server.user());
    config.put("password", server.password());
    config.put("schema", other.database.query("select current_schema()"));
    config.put("place", place.name());
    config.put("lease", LEASE.toString());
    if (place == Place.CLAIM_WHILE_A_LARGE_RESULT_IS_ON_ITS_WAY) {
      config.merge("url", "&socketFactory=" + CountedSockets.class.getName(), String::concat);
    }
    return ChildJvm.start(StalledClient.class, config);
  }

  static void standsStill(ChildJvm client, Place place) {
    String line;
    do {
      line = client.line();
    } while (line.startsWith("claimed "));
    assertThat(line).isEqualTo("here " + place);
  }

  /** What it says after it was continued, up to its end. */
  private static List<String> lines(ChildJvm client) {
    List<String> lines = new ArrayList<>();
    do {
      lines.add(client.line());
    } while (!lines.get(lines.size() - 1).startsWith("then "));
    return lines;
  }

  private static void assertRefused(String line, Place place, Set<Long> all) {
    switch (place) {
      case CLAIM_BETWEEN_LEASE_AND_READ,
          CLAIM_BEFORE_COMMIT,
          CLAIM_WHILE_A_LARGE_RESULT_IS_ON_ITS_WAY ->
          assertThat(line).matches("transient .+|then claimed 0");
      case RENEW_BEFORE_COMMIT, SETTLE_AFTER_THE_BUCKETS_ARE_LOCKED, SETTLE_BEFORE_COMMIT ->
          assertThat(line.equals("lost " + new TreeSet<>(all)) ? "lost all" : line)
              .matches("transient .+|lost all|then claimed 0");
      case BETWEEN_CLAIM_AND_SETTLE ->
          assertThat(line).isIn("lost " + new TreeSet<>(all), "then claimed 0");
    }
  }

  /** The one that takes over, in this process, with tables of its own. */
  static final class Other implements AutoCloseable {
    final Database database;
    private final PostgresOutboxStore store;
    private final List<Claim> claims = new ArrayList<>();

    Other(DatabaseServer server) {
      database = new Database(server);
      store = PostgresOutboxStore.of(database.pool);
      database.execute(store.ddl());
    }

    boolean hasTcpUserTimeout() {
      return !query("select set_config('tcp_user_timeout', '1000', false)").equals("0")
          && !query("show tcp_user_timeout").equals("0");
    }

    Set<Long> append(int messages, int size) {
      for (int i = 0; i < messages; i++) {
        OutboxMessage message =
            OutboxMessage.builder()
                .aggregate("order", "order-" + i % KEYS)
                .eventType("changed")
                .payload(new byte[size])
                .build();
        database.inTransaction(
            false,
            connection ->
                assertThat(store.append(connection, List.of(message)).duplicates()).isEmpty());
      }
      return Stream.of(query("select string_agg(seq::text, ',') from outbox_message").split(","))
          .map(Long::valueOf)
          .collect(Collectors.toSet());
    }

    /** What it holds, after it has tried to get more. */
    Set<Long> claims() {
      Claim claim =
          store.claim(new Claim.Request("other", 1_000, 1L << 30, Duration.ofMinutes(10)));
      if (!claim.messages().isEmpty()) {
        claims.add(claim);
      }
      return claims.stream()
          .flatMap(c -> c.messages().stream())
          .map(StoredMessage::sequence)
          .collect(Collectors.toSet());
    }

    void settleAll() {
      for (Claim claim : claims) {
        assertThat(claim.settle(all(claim, Decision.delivered()))).isEmpty();
      }
    }

    /** Every row of every table. */
    Set<String> contents() {
      String rows =
          query(
              """
              select string_agg(row, E'\\n') from (
                select md5(m::text) as row from outbox_message m
                union all select k::text from outbox_blocked_key k
                union all select b::text from outbox_bucket b
                union all select d::text from outbox_dedup d) rows
              """);
      return Set.of(rows.split("\n"));
    }

    String query(String sql) {
      return database.query(sql);
    }

    @Override
    public void close() {
      database.close();
    }
  }
}
