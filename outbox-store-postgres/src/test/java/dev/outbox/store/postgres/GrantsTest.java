package dev.outbox.store.postgres;

import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.outbox.OutboxException;
import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.spi.store.KeepingStore.Uncommitted;
import dev.outbox.spi.store.KeepingStore.Uncommitted.Committed;
import dev.outbox.store.core.internal.PrefixedNames;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The grants")
class GrantsTest {
  private static DatabaseServer server;
  private static Database owner;
  private static String producer;
  private static String relay;
  private static String consumer;
  private static String housekeeper;

  @BeforeAll
  static void start() {
    server = DatabaseServer.postgres();
    owner = new Database(server);
    assumeTrue(
        owner
            .query("select rolsuper or rolcreaterole from pg_roles where rolname = current_user")
            .equals("t"),
        "the user of outbox.test.postgres.url may not create roles");
    PostgresOutboxStore store = PostgresOutboxStore.of(owner.pool);
    store.migrate();
    producer = owner.schema() + "_producer";
    relay = owner.schema() + "_relay";
    owner.execute("create role %s; create role %s".formatted(producer, relay));
    owner.execute("grant usage on schema %s to %s, %s".formatted(owner.schema(), producer, relay));
    owner.execute(store.grants(producer, relay));
    PostgresInboxStore inbox = PostgresInboxStore.of(owner.pool);
    inbox.migrate();
    consumer = owner.schema() + "_consumer";
    housekeeper = owner.schema() + "_housekeeper";
    owner.execute("create role %s; create role %s".formatted(consumer, housekeeper));
    owner.execute(
        "grant usage on schema %s to %s, %s".formatted(owner.schema(), consumer, housekeeper));
    owner.execute(inbox.grants(consumer, housekeeper));
  }

  @AfterAll
  static void stop() throws Exception {
    for (String role : new String[] {producer, relay, consumer, housekeeper}) {
      if (role != null) {
        owner.execute("drop owned by %1$s; drop role %1$s".formatted(role));
      }
    }
    owner.close();
    server.close();
  }

  /** A store whose connections have only the role's rights. */
  private static PostgresOutboxStore storeAs(String role) {
    return PostgresOutboxStore.of(RoleDataSource.of(owner.pool, role));
  }

  private static PostgresInboxStore inboxAs(String role) {
    return PostgresInboxStore.of(RoleDataSource.of(owner.pool, role));
  }

  private static OutboxMessage message(String dedupKey) {
    return OutboxMessage.builder()
        .aggregate("order", "1")
        .eventType("Placed")
        .payload("{}")
        .dedupKey(dedupKey)
        .deliverAfter(Duration.ZERO)
        .build();
  }

  private static void inTransactionAs(String role, SqlWork work) throws SQLException {
    try (Connection connection = RoleDataSource.of(owner.pool, role).getConnection()) {
      connection.setAutoCommit(false);
      try {
        work.run(connection);
        connection.commit();
      } finally {
        connection.rollback();
        connection.setAutoCommit(true);
      }
    }
  }

  private interface SqlWork {
    void run(Connection connection) throws SQLException;
  }

  private static void refused(String role, String sql) {
    assertThatThrownBy(
            () ->
                inTransactionAs(
                    role,
                    c -> {
                      try (Statement statement = c.createStatement()) {
                        statement.execute(sql);
                      }
                    }))
        .as("%s by %s", sql, role)
        .isInstanceOfSatisfying(
            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("42501"));
  }

  @Test
  @DisplayName("let a producer append, also with dedup keys, and nothing else")
  void producerAppends() throws SQLException {
    PostgresOutboxStore store = storeAs(producer);
    inTransactionAs(
        producer,
        c -> {
          assertThat(store.append(c, message(null)).allStored()).isTrue();
          assertThat(store.append(c, message("d")).allStored()).isTrue();
          assertThat(store.append(c, message("d")).allStored()).isFalse();
        });
    inTransactionAs(
        producer,
        c -> {
          try (Statement statement = c.createStatement();
              ResultSet row =
                  statement.executeQuery(
                      "insert into outbox_message (aggregate_type, aggregate_id, event_type, payload)"
                          + " values ('order', '1', 'Placed', '{}') returning id, seq")) {
            assertThat(row.next()).as("what an ORM asks for").isTrue();
          }
        });
    refused(producer, "select payload from outbox_message");
    refused(producer, "select * from outbox_message");
    refused(producer, "delete from outbox_message");
    refused(producer, "update outbox_message set payload = ''");
    refused(producer, "insert into outbox_message (txid) values (pg_current_xact_id())");
    refused(producer, "select * from outbox_bucket");
    refused(producer, "delete from outbox_dedup");
  }

  @Test
  @DisplayName("are named, each by each, to a role that lacks them")
  void missing() {
    String poor = owner.schema() + "_poor";
    owner.execute("create role " + poor);
    try {
      PostgresOutboxStore store =
          PostgresOutboxStore.builder(RoleDataSource.of(owner.pool, poor))
              .schema(owner.schema())
              .build();
      Claim.Request request = new Claim.Request("r", 100, 1_000_000, Duration.ofMinutes(1));
      Pattern advice = Pattern.compile("may not run it, run: (grant .*) \\(outbox grants");
      List<String> given = new ArrayList<>();
      for (boolean refused = true; refused; ) {
        try {
          Claim claim = store.claim(request);
          claim.settle(Map.of());
          store.statistics(10_000);
          store.housekeep();
          refused = false;
        } catch (OutboxException e) {
          assertThat(e).isNotInstanceOf(TransientOutboxException.class);
          Matcher found = advice.matcher(e.getMessage());
          assertThat(found.find()).as(e.getMessage()).isTrue();
          String grant = found.group(1);
          assertThat(given).as("asked for again").doesNotContain(grant);
          given.add(grant);
          owner.execute(grant.replace("this user", poor));
        }
      }
      assertThat(given).anyMatch(g -> g.startsWith("grant usage on schema")).hasSizeGreaterThan(3);
    } finally {
      owner.execute("drop owned by %1$s; drop role %1$s".formatted(poor));
    }
  }

  @Test
  @DisplayName("a producer that may not append is told what it lacks")
  void missingForProducer() throws SQLException {
    PostgresOutboxStore store = storeAs(relay);
    assertThatThrownBy(() -> inTransactionAs(relay, c -> store.append(c, message(null))))
        .isInstanceOf(OutboxException.class)
        .hasMessageContaining("run: grant insert (id, ")
        .hasMessageContaining("on outbox_message to this user");
  }

  @Test
  @DisplayName(
      "of a producer and of a relay together let one append and hand over; a producer only appends")
  void handsOver() throws SQLException {
    String both = owner.schema() + "_both";
    owner.execute("create role " + both, "grant %s, %s to %s".formatted(producer, relay, both));
    try {
      assertThat(handedOver(storeAs(relay), producer)).isFalse();
      PostgresOutboxStore store = storeAs(relay);
      assertThat(handedOver(store, both)).isTrue();
      assertThatThrownBy(() -> handedOver(store, producer))
          .as("whose role was set to another one since it was asked")
          .isInstanceOf(OutboxException.class)
          .hasMessageContaining("grant select, update, delete on outbox_message to this user");
      assertThat(handedOver(store, producer)).isFalse();
    } finally {
      owner.execute("drop role " + both);
    }
  }

  @Test
  @DisplayName("of a relay that a producer is given later let it hand over within a minute")
  void handsOverLater() throws SQLException {
    String later = owner.schema() + "_later";
    owner.execute("create role " + later, "grant %s to %s".formatted(producer, later));
    AtomicLong clock = new AtomicLong();
    Append append = new Append(new PrefixedNames(null, PrefixedNames.DEFAULT_PREFIX), clock::get);
    try {
      assertThat(mayHandOver(append, later)).isFalse();
      owner.execute("grant %s to %s".formatted(relay, later));
      clock.addAndGet(TimeUnit.MINUTES.toNanos(1) - 1);
      assertThat(mayHandOver(append, later)).as("what is remembered").isFalse();
      clock.addAndGet(1);
      assertThat(mayHandOver(append, later)).isTrue();
    } finally {
      owner.execute("drop role " + later);
    }
  }

  private static boolean mayHandOver(Append append, String role) throws SQLException {
    OutboxMessage message =
        OutboxMessage.builder().aggregate("order", "1").eventType("e").payload("{}").build();
    AtomicBoolean may = new AtomicBoolean();
    inTransactionAs(
        role, c -> may.set(append.appendToHandOver(c, List.of(message), List.of()).isPresent()));
    return may.get();
  }

  /** Whether a message of a key that is held was handed over. */
  private static boolean handedOver(PostgresOutboxStore relays, String role) throws SQLException {
    Claim.Request request = new Claim.Request("r", 100, 1_000_000, Duration.ofMinutes(1));
    OutboxMessage message =
        OutboxMessage.builder().aggregate("order", "1").eventType("e").payload("{}").build();
    AtomicBoolean handedOver = new AtomicBoolean();
    owner.execute("delete from outbox_message");
    try (Keeper keeper = DatabaseTest.keeperOfAll(relays, owner, Duration.ofMinutes(1))) {
      for (int i = 0; i < 100 && !handedOver.get(); i++) {
        AtomicReference<Uncommitted> uncommitted = new AtomicReference<>();
        inTransactionAs(role, c -> uncommitted.set(relays.append(keeper, c, List.of(message))));
        handedOver.set(uncommitted.get().committed() == Committed.HANDED_OVER);
        Claim claim = keeper.claim(request);
        Map<Long, Decision> delivered = all(claim, Decision.delivered());
        Settled settled = keeper.settleAndClaim(claim, delivered, request);
        assertThat(settled.lost()).isEmpty();
        assertThat(settled.next().settle(Map.of())).isEmpty();
      }
    }
    return handedOver.get();
  }

  @Test
  @DisplayName("let a relay claim, settle, requeue and tidy up, and not append")
  void relayRelays() {
    owner.inTransaction(false, c -> PostgresOutboxStore.of(owner.pool).append(c, message(null)));
    PostgresOutboxStore store = storeAs(relay);
    Claim claim = store.claim(new Claim.Request("r", 100, 1_000_000, Duration.ofMinutes(1)));
    assertThat(claim.messages()).isNotEmpty();
    claim.renew(Duration.ofMinutes(1));
    long first = claim.messages().get(0).sequence();
    assertThat(claim.settle(Map.of(first, Decision.deadHaltingKey("no")))).isEmpty();
    assertThat(store.deadLetters(0, 10)).hasSize(1);
    assertThat(store.requeue(first)).isTrue();
    assertThat(store.statistics(10_000).blocked()).isEqualTo(1);
    store.housekeep();
    refused(relay, "insert into outbox_message (aggregate_type) values ('x')");
    refused(relay, "drop table outbox_message");
  }

  @Test
  @DisplayName("let a consumer handle messages, and forget none")
  void consumerConsumes() throws SQLException {
    PostgresInboxStore inbox = inboxAs(consumer);
    InboxKey key = new InboxKey("shipping", "1");
    inTransactionAs(
        consumer,
        c -> {
          assertThat(inbox.firstTime(c, key)).isTrue();
          assertThat(inbox.firstTime(c, key)).isFalse();
        });
    InboxKey locked = new InboxKey("shipping", "2");
    for (int i = 0; i < 2; i++) {
      Begin<Connection> begin = inbox.begin(locked, Duration.ofMinutes(1));
      assertThat(((Begin.Started<Connection>) begin).lock().release("refused")).isTrue();
    }
    Begin<Connection> begin = inbox.begin(locked, Duration.ofMinutes(1));
    Lock<Connection> lock = ((Begin.Started<Connection>) begin).lock();
    assertThat(lock.renew(Duration.ofMinutes(2))).isTrue();
    assertThat(lock.complete(InboxResult.none())).isTrue();
    insertExpired();
    refused(consumer, "delete from inbox_message");
    refused(consumer, "truncate inbox_message");
    assertThatThrownBy(inbox::housekeep)
        .isInstanceOf(OutboxException.class)
        .hasMessageContaining(
            "run: grant select, delete, update (expires_at) on inbox_message to this user");
    assertThatThrownBy(() -> inboxAs(housekeeper).begin(key, Duration.ofMinutes(1)))
        .isInstanceOf(OutboxException.class)
        .hasMessageContaining("run: grant select, insert, update on inbox_message to this user");
  }

  @Test
  @DisplayName("let housekeeping purge and count, and record nothing")
  void housekeeperKeepsHouse() {
    insertExpired();
    PostgresInboxStore inbox = inboxAs(housekeeper);
    inbox.housekeep();
    assertThat(owner.query("select count(*) from inbox_message where message_id = 'old'"))
        .isEqualTo("0");
    assertThat(inbox.statistics(10).failed()).isZero();
    refused(housekeeper, "insert into inbox_message (consumer) values ('x')");
    refused(housekeeper, "update inbox_message set state = 'DONE'");
  }

  private static void insertExpired() {
    owner.execute(
        "insert into inbox_message (consumer, message_id, state, attempts, expires_at)"
            + " values ('shipping', 'old', 'DONE', 1, now() - interval '1 second')"
            + " on conflict do nothing");
  }
}
