package dev.outbox.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Archive;
import dev.outbox.OutboxException;
import dev.outbox.OutboxMessage;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.spi.store.ArchiveStore.Search;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.tck.internal.Jdbc;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** With real users, who have nothing but what the grants give them. */
@DisplayName("The grants")
public abstract class GrantsTests extends HoldingTests {
  protected String producer;
  protected String relay;
  private String consumer;
  private String housekeeper;

  protected GrantsTests(TestedStore tested) {
    super(tested);
  }

  /** Makes a user, who may only see the schema. Skips the test when nobody may. */
  protected abstract void create(String user);

  /** Drops a user, with all that was granted. */
  protected abstract void drop(String user);

  /** Connections of a user. */
  protected abstract DataSource as(String user);

  protected abstract boolean isDenied(SQLException refused);

  /** Who the database says is connected, in a connection of this user. */
  protected abstract String connectedAs(String user);

  /** What only this database has, and a producer may not run. */
  protected abstract List<String> deniedToProducer();

  /** What only this database has, and a relay may not run. */
  protected abstract List<String> deniedToRelay();

  @Override
  protected boolean hasTables() {
    return false;
  }

  @BeforeEach
  void grant() {
    store = builder(database.pool).archive(Archive.FULL).build();
    JdbcInboxStore inbox = tested().inbox(database.pool).build();
    database.run(store.ddl());
    database.run(inbox.ddl());
    producer = database.schema() + "_p";
    relay = database.schema() + "_r";
    consumer = database.schema() + "_c";
    housekeeper = database.schema() + "_h";
    users().forEach(this::create);
    database.run(store.grants(producer, relay));
    database.run(inbox.grants(consumer, housekeeper));
  }

  private Stream<String> users() {
    return Stream.of(producer, relay, consumer, housekeeper);
  }

  @AfterEach
  void revoke() {
    users().forEach(this::drop);
  }

  protected final void denied(String user, String sql) {
    try (Connection connection = as(user).getConnection();
        Statement statement = connection.createStatement()) {
      assertThatThrownBy(() -> statement.execute(sql))
          .as("%s by %s", sql, user)
          .isInstanceOfSatisfying(
              SQLException.class, e -> assertThat(isDenied(e)).as("%s", e).isTrue());
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  @DisplayName("let a producer append, also with dedup keys, and nothing else")
  void producerAppends() {
    JdbcOutboxStore own = builder(as(producer)).build();
    OutboxMessage.Builder delayed = of("1").header("name", "value").dedupKey("d");
    Jdbc.inTransaction(
        as(producer),
        c -> {
          assertThat(own.append(c, message("1")).allStored()).isTrue();
          assertThat(own.append(c, delayed.deliverAfter(Duration.ZERO).build()).allStored())
              .isTrue();
          assertThat(own.append(c, of("1").dedupKey("d").build()).allStored()).isFalse();
        });
    assertThat(delivered()).hasSize(2);
    Stream.concat(
            Stream.of(
                "select * from outbox_message",
                "delete from outbox_message",
                "update outbox_message set payload = ''",
                "select * from outbox_bucket",
                "delete from outbox_dedup",
                "select * from outbox_archive_message"),
            deniedToProducer().stream())
        .forEach(sql -> denied(producer, sql));
  }

  @Test
  @DisplayName("let a relay claim, settle, requeue and tidy up, and not append")
  void relayRelays() {
    append(message("1"), of("1").deliverAfter(Duration.ZERO).build(), message("1"));
    database.execute(
        "insert into outbox_dedup (dedup_key, created_at) values ('old', %s)".formatted(daysAgo(8)),
        "delete from outbox_bucket where bucket = 63");
    JdbcOutboxStore own = builder(as(relay)).build();
    Claim claim = own.claim(request());
    assertThat(claim.messages()).hasSize(3);
    assertThat(claim.renew(Duration.ofMinutes(1))).hasSize(3);
    List<Long> claimed = claim.messages().stream().map(m -> m.sequence()).toList();
    Map<Long, Decision> failed =
        Map.of(
            claimed.get(0), Decision.deadHaltingKey("no"),
            claimed.get(1), Decision.retry(Duration.ZERO, "again"));
    assertThat(claim.settle(failed)).isEmpty();
    assertThat(own.claim(request()).messages()).as("moved").isEmpty();
    assertThat(own.deadLetters(0, 10)).hasSize(1);
    assertThat(own.requeue(claimed.get(0))).isTrue();
    assertThat(own.statistics(10_000).blocked()).isEqualTo(3);
    Claim again = own.claim(request());
    assertThat(again.messages()).isNotEmpty();
    assertThat(again.settle(Map.of(claimed.get(0), Decision.delivered()))).isEmpty();
    own.housekeep();
    assertThat(database.query("select count(*) from outbox_dedup")).isEqualTo("0");
    assertThat(database.query("select count(*) from outbox_bucket")).isEqualTo("64");
    denied(relay, "insert into outbox_message (aggregate_type) values ('x')");
    denied(relay, "drop table outbox_message");
  }

  @Test
  @DisplayName("let a relay fill the archive and keep it, and change nothing there or in the audit")
  void archive() {
    append(message("a"), message("b"));
    JdbcOutboxStore own = builder(as(relay)).archive(Archive.FULL).build();
    Claim claim = own.claim(request());
    long dead = claim.messages().get(0).sequence();
    long delivered = claim.messages().get(1).sequence();
    assertThat(claim.settle(Map.of(dead, Decision.dead("no"), delivered, Decision.delivered())))
        .isEmpty();
    assertThat(own.requeue(Set.of(dead), Who.named("alice"))).isNotEmpty();
    assertThat(own.claim(request()).settle(Map.of(dead, Decision.dead("no")))).isEmpty();
    assertThat(own.discard(Set.of(dead), Who.named("alice"))).isNotEmpty();
    Search all = Search.between(Instant.EPOCH, Instant.parse("2100-01-01T00:00:00Z"));
    assertThat(own.archived(all, 10)).hasSize(2);
    assertThat(own.audit(Instant.EPOCH, 10)).hasSize(2);
    assertThat(database.query("select min(db_user) from outbox_archive_audit"))
        .as("as whom somebody was connected")
        .startsWith(connectedAs(relay));
    Stream.concat(
            Stream.of(
                "update outbox_archive_message set outcome = 'DELIVERED'",
                "update outbox_archive_audit set who = 'bob'",
                "delete from outbox_archive_audit"),
            deniedToRelay().stream())
        .forEach(sql -> denied(relay, sql));
    database.execute("update outbox_archive_message set archived_at = " + daysAgo(40));
    own.housekeep();
    assertThat(own.archived(all, 10)).as("after it is over").isEmpty();
  }

  @Test
  @DisplayName("let a consumer handle messages and forget none, and housekeeping purge and count")
  void inbox() {
    JdbcInboxStore inbox = tested().inbox(as(consumer)).build();
    InboxKey key = new InboxKey("shipping", "1");
    Jdbc.inTransaction(
        as(consumer),
        c -> {
          assertThat(inbox.firstTime(c, key)).isTrue();
          assertThat(inbox.firstTime(c, key)).isFalse();
        });
    InboxKey locked = new InboxKey("shipping", "2");
    assertThat(begin(inbox, locked).release("refused")).isTrue();
    Lock<Connection> lock = begin(inbox, locked);
    assertThat(lock.renew(Duration.ofMinutes(2))).isTrue();
    assertThat(lock.complete(InboxResult.none())).isTrue();
    database.execute(
        "insert into inbox_message (consumer, message_id, state, attempts, expires_at)"
            + " values ('shipping', 'old', 'DONE', 1, %s)".formatted(daysAgo(1)));
    denied(consumer, "delete from inbox_message");
    assertThatThrownBy(inbox::housekeep)
        .isInstanceOf(OutboxException.class)
        .hasMessageContaining("run: grant select, delete")
        .hasMessageContaining(" on inbox_message to this user");

    JdbcInboxStore housekeeping = tested().inbox(as(housekeeper)).build();
    housekeeping.housekeep();
    assertThat(database.query("select count(*) from inbox_message")).isEqualTo("2");
    assertThat(housekeeping.statistics(10).failed()).isZero();
    assertThatThrownBy(() -> housekeeping.begin(key, Duration.ofMinutes(1)))
        .isInstanceOf(OutboxException.class)
        .hasMessageContaining("run: grant select, insert, update on inbox_message to this user");
    denied(housekeeper, "insert into inbox_message (consumer) values ('x')");
    denied(housekeeper, "update inbox_message set state = 'DONE'");
  }

  private static Lock<Connection> begin(JdbcInboxStore inbox, InboxKey key) {
    return ((Begin.Started<Connection>) inbox.begin(key, Duration.ofMinutes(1))).lock();
  }
}
