package dev.outbox.store.mysql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Archive;
import dev.outbox.OutboxException;
import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.InboxKey;
import dev.outbox.spi.store.ArchiveStore.Search;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.jdbc.HoldingTests;
import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** With real users, who have nothing but what the grants give them. */
@ParameterizedClass
@EnumSource
@DisplayName("The grants")
class MysqlGrantsTest extends HoldingTests {
  private static final String PASSWORD = "s3cret-Passw0rd";

  private String producer;
  private String relay;
  private HikariDataSource producers;
  private HikariDataSource relays;

  MysqlGrantsTest(Tested tested) {
    super(tested);
  }

  @BeforeEach
  void grant() {
    store.migrate();
    producer = database.schema() + "_p";
    relay = database.schema() + "_r";
    for (String user : List.of(producer, relay)) {
      database.execute("create user %s identified by '%s'".formatted(user, PASSWORD));
    }
    database.run(store.grants(producer, relay));
    producers = pool(producer);
    relays = pool(relay);
  }

  private HikariDataSource pool(String user) {
    HikariConfig config = new HikariConfig();
    // The database of the URL is one that these users may not see.
    config.setJdbcUrl(
        database
            .server()
            .jdbcUrl()
            .replaceFirst("/[^/?]*(\\?.*)?$", "/" + database.schema() + "$1"));
    config.setUsername(user);
    config.setPassword(PASSWORD);
    config.setMinimumIdle(0);
    return new HikariDataSource(config);
  }

  @AfterEach
  void revoke() {
    producers.close();
    relays.close();
    database.execute("drop user " + producer, "drop user " + relay);
  }

  private static OutboxMessage message(String dedupKey, Duration after) {
    return OutboxMessage.builder()
        .aggregate("order", "1")
        .eventType("Placed")
        .payload("{}")
        .header("name", "value")
        .dedupKey(dedupKey)
        .deliverAfter(after)
        .build();
  }

  private static void refused(HikariDataSource pool, String sql) throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      assertThatThrownBy(() -> statement.execute(sql))
          .as(sql)
          .isInstanceOfSatisfying(
              SQLException.class,
              e -> assertThat(e.getErrorCode()).as("denied: %s", e).isIn(1142, 1143));
    }
  }

  @Test
  @DisplayName("let a producer append, also with dedup keys, and nothing else")
  void producerAppends() throws SQLException {
    JdbcOutboxStore store = builder(producers).build();
    try (Connection connection = producers.getConnection()) {
      connection.setAutoCommit(false);
      assertThat(store.append(connection, message(null, null)).allStored()).isTrue();
      assertThat(store.append(connection, message("d", Duration.ZERO)).allStored()).isTrue();
      assertThat(store.append(connection, message("d", null)).allStored()).isFalse();
      assertThat(store.append(connection, message(null, Duration.ofHours(1))).allStored()).isTrue();
      connection.commit();
    }
    refused(producers, "select * from outbox_message");
    refused(producers, "delete from outbox_message");
    refused(producers, "update outbox_message set payload = ''");
    for (String column : List.of("seq", "bucket", "place", "attempts", "created_at")) {
      refused(producers, "insert into outbox_message (%s) values (1)".formatted(column));
    }
    refused(producers, "select * from outbox_bucket");
    refused(producers, "delete from outbox_dedup");
    assertThat(database.query("select count(*) from outbox_message")).isEqualTo("3");
  }

  @Test
  @DisplayName("are named to a user who lacks them")
  void missing() {
    database.execute(
        "revoke update on %s.outbox_bucket from %s".formatted(database.schema(), relay));
    JdbcOutboxStore store = builder(relays).build();
    database.inTransaction(false, c -> this.store.append(c, message(null, null)));
    assertThatThrownBy(
            () -> store.claim(new Claim.Request("r", 100, 1_000_000, Duration.ofMinutes(1))))
        .isInstanceOf(OutboxException.class)
        .isNotInstanceOf(TransientOutboxException.class)
        .hasMessageContaining(
            "may not run it, run: grant select, insert, update on outbox_bucket to")
        .hasMessageContaining("outbox_bucket");
  }

  @Test
  @DisplayName("let a relay claim, settle, requeue and tidy up, and not append")
  void relayRelays() throws SQLException {
    for (Duration after : new Duration[] {null, Duration.ZERO, null}) {
      database.inTransaction(false, c -> this.store.append(c, message(null, after)));
    }
    database.execute(
        "insert into outbox_dedup (dedup_key, created_at) values ('old', utc_timestamp(6) - interval 8 day)",
        "delete from outbox_bucket where bucket = 63");
    JdbcOutboxStore store = builder(relays).build();
    Claim.Request request = new Claim.Request("r", 100, 1_000_000, Duration.ofMinutes(1));
    Claim claim = store.claim(request);
    assertThat(claim.messages()).hasSize(3);
    assertThat(claim.renew(Duration.ofMinutes(1))).hasSize(3);
    List<Long> claimed = claim.messages().stream().map(m -> m.sequence()).toList();
    assertThat(
            claim.settle(
                Map.of(
                    claimed.get(0),
                    Decision.deadHaltingKey("no"),
                    claimed.get(1),
                    Decision.retry(Duration.ZERO, "again"))))
        .isEmpty();
    assertThat(store.claim(request).messages()).as("moved").isEmpty();
    assertThat(store.deadLetters(0, 10)).hasSize(1);
    assertThat(store.requeue(claimed.get(0))).isTrue();
    assertThat(store.statistics(10_000).blocked()).isEqualTo(3);
    Claim again = store.claim(request);
    assertThat(again.messages()).isNotEmpty();
    again.settle(Map.of(claimed.get(0), Decision.delivered()));
    store.housekeep();
    assertThat(database.query("select count(*) from outbox_dedup")).isEqualTo("0");
    assertThat(database.query("select count(*) from outbox_bucket")).isEqualTo("64");
    refused(relays, "insert into outbox_message (aggregate_type) values ('x')");
    refused(relays, "drop table outbox_message");
    refused(relays, "delete from outbox_bucket");
  }

  @Test
  @DisplayName("let a relay hold, and end its last session")
  void holds() throws SQLException {
    try (Keeper keeper = keeperOfAll(keeping(relays), database, Duration.ofMinutes(1))) {
      append("k");
      Claim claim = claimOne(keeper, new Claim.Request("r", 100, 1_000_000, Duration.ofMinutes(1)));
      assertThat(claim.settle(Map.of(claim.messages().get(0).sequence(), Decision.delivered())))
          .isEmpty();
    }
    MysqlText text =
        new MysqlText(
            new PrefixedNames(null, PrefixedNames.DEFAULT_PREFIX), ((Tested) tested()).flavor);
    try (Connection last = relays.getConnection();
        Connection next = relays.getConnection()) {
      assertThat(new RelayLocks(text).show(Jdbi.open(last), 16)).isTrue();
      assertThat(new RelayLocks(text).show(Jdbi.open(next), 16)).isTrue();
    }
  }

  @Test
  @DisplayName("let a relay fill and purge the archive, and change nothing there or in the audit")
  void archive() throws SQLException {
    JdbcOutboxStore owner = builder(database.pool).archive(Archive.FULL).build();
    owner.migrate();
    database.run(owner.grants(producer, relay));
    database.inTransaction(false, c -> owner.append(c, message(null, null)));
    database.inTransaction(false, c -> owner.append(c, message(null, null)));
    JdbcOutboxStore store =
        builder(relays).archive(Archive.FULL).archiveRetention(Duration.ofMillis(1)).build();
    Claim claim = store.claim(new Claim.Request("r", 100, 1_000_000, Duration.ofMinutes(1)));
    long dead = claim.messages().get(0).sequence();
    long delivered = claim.messages().get(1).sequence();
    assertThat(claim.settle(Map.of(dead, Decision.dead("no"), delivered, Decision.delivered())))
        .isEmpty();
    assertThat(store.discard(Set.of(dead), Who.named("alice"))).isNotEmpty();
    assertThat(
            store.archived(
                Search.between(Instant.EPOCH, Instant.parse("2100-01-01T00:00:00Z")), 10))
        .hasSize(2);
    assertThat(store.audit(Instant.EPOCH, 10)).hasSize(1);
    assertThat(database.query("select db_user from outbox_archive_audit"))
        .as("as whom somebody was connected")
        .startsWith(relay + "@");
    await().untilAsserted(() -> assertThat(purged(store)).isEqualTo("0"));
    refused(relays, "update outbox_archive_message set outcome = 'DELIVERED'");
    refused(relays, "update outbox_archive_audit set who = 'bob'");
    refused(relays, "delete from outbox_archive_audit");
    refused(producers, "select * from outbox_archive_message");
  }

  private String purged(JdbcOutboxStore store) {
    store.housekeep();
    return database.query("select count(*) from outbox_archive_message");
  }

  @Test
  @DisplayName("let a consumer handle messages and forget none, and housekeeping purge and count")
  void inbox() throws SQLException {
    tested().inbox(database.pool).build().migrate();
    String consumer = database.schema() + "_c";
    String housekeeper = database.schema() + "_h";
    for (String user : List.of(consumer, housekeeper)) {
      database.execute("create user %s identified by '%s'".formatted(user, PASSWORD));
    }
    database.run(tested().inbox(database.pool).build().grants(consumer, housekeeper));
    try (HikariDataSource consumers = pool(consumer);
        HikariDataSource housekeepers = pool(housekeeper)) {
      consumes(consumers);
      JdbcInboxStore housekeeping = tested().inbox(housekeepers).build();
      housekeeping.housekeep();
      assertThat(database.query("select count(*) from inbox_message")).isEqualTo("2");
      assertThat(housekeeping.statistics(10).failed()).isZero();
      refused(housekeepers, "insert into inbox_message (consumer) values ('x')");
      refused(housekeepers, "update inbox_message set state = 'DONE'");
    } finally {
      database.execute("drop user " + consumer, "drop user " + housekeeper);
    }
  }

  private void consumes(HikariDataSource consumers) throws SQLException {
    JdbcInboxStore inbox = tested().inbox(consumers).build();
    InboxKey key = new InboxKey("shipping", "1");
    try (Connection connection = consumers.getConnection()) {
      connection.setAutoCommit(false);
      assertThat(inbox.firstTime(connection, key)).isTrue();
      assertThat(inbox.firstTime(connection, key)).isFalse();
      connection.commit();
    }
    InboxKey locked = new InboxKey("shipping", "2");
    Begin<Connection> begin = inbox.begin(locked, Duration.ofMinutes(1));
    assertThat(((Begin.Started<Connection>) begin).lock().release("refused")).isTrue();
    begin = inbox.begin(locked, Duration.ofMinutes(1));
    assertThat(((Begin.Started<Connection>) begin).lock().complete()).isTrue();
    database.execute(
        "insert into inbox_message (consumer, message_id, state, attempts, expires_at)"
            + " values ('shipping', 'old', 'DONE', 1, utc_timestamp(6) - interval 1 second)");
    refused(consumers, "delete from inbox_message");
    assertThatThrownBy(inbox::housekeep)
        .isInstanceOf(OutboxException.class)
        .hasMessageContaining("run: grant select, delete on inbox_message to");
  }
}
