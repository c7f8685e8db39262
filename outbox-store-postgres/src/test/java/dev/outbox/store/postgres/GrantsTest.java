package dev.outbox.store.postgres;

import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.outbox.Archive;
import dev.outbox.OutboxException;
import dev.outbox.PermanentOutboxException;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.spi.store.KeepingStore.Uncommitted;
import dev.outbox.spi.store.KeepingStore.Uncommitted.Committed;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.jdbc.GrantsTests;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.tck.internal.Jdbc;
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
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GrantsTest extends GrantsTests {
  GrantsTest() {
    super(new Postgres());
  }

  @Override
  protected void create(String user) {
    assumeTrue(
        database
            .query("select rolsuper or rolcreaterole from pg_roles where rolname = current_user")
            .equals("t"),
        "the user of outbox.test.postgres.url may not create roles");
    database.execute(
        "create role %1$s; grant usage on schema %2$s to %1$s".formatted(user, database.schema()));
  }

  @Override
  protected void drop(String user) {
    database.execute("drop owned by %1$s; drop role %1$s".formatted(user));
  }

  @Override
  protected DataSource as(String user) {
    return RoleDataSource.of(database.pool, user);
  }

  @Override
  protected boolean isDenied(SQLException refused) {
    return refused.getSQLState().equals("42501");
  }

  /** Whatever role it has taken since. */
  @Override
  protected String connectedAs(String user) {
    return database.query("select session_user");
  }

  @Override
  protected List<String> deniedToProducer() {
    return List.of(
        "select payload from outbox_message",
        "insert into outbox_message (txid) values (pg_current_xact_id())",
        "select outbox_archive_keep(0)");
  }

  @Override
  protected List<String> deniedToRelay() {
    return List.of(
        "delete from outbox_archive_message",
        "truncate outbox_archive_message",
        "delete from outbox_archive_message_rest",
        "drop table outbox_archive_message_rest",
        "drop table outbox_archive_message",
        forged("db_user", "'alice'"),
        forged("noted_at", "now()"),
        "create table mine (n int)");
  }

  /** An entry with what only the database says. */
  private static String forged(String column, String value) {
    return "insert into outbox_archive_audit (action, who, seq, message_id, %s) values ('REQUEUED', 'eve', 1, 'x', %s)"
        .formatted(column, value);
  }

  @Test
  @DisplayName("let a producer have back what an ORM asks for")
  void returning() throws SQLException {
    try (Connection connection = as(producer).getConnection();
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "insert into outbox_message (aggregate_type, aggregate_id, event_type, payload)"
                    + " values ('order', '1', 'Placed', '{}') returning id, seq")) {
      assertThat(row.next()).isTrue();
    }
  }

  @Test
  @DisplayName("are named, each by each, to a role that lacks them")
  void missing() {
    String poor = database.schema() + "_poor";
    database.execute("create role " + poor);
    try {
      PostgresOutboxStore store =
          PostgresOutboxStore.builder(as(poor)).schema(database.schema()).build();
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
          database.execute(grant.replace("this user", poor));
        }
      }
      assertThat(given).anyMatch(g -> g.startsWith("grant usage on schema")).hasSizeGreaterThan(3);
    } finally {
      database.execute("drop owned by %1$s; drop role %1$s".formatted(poor));
    }
  }

  @Test
  @DisplayName("are looked through, those on the archive's columns and function, too")
  void lookedThrough() {
    JdbcOutboxStore store = builder(as(relay)).archive(Archive.FULL).build();
    assertThat(store.missingGrants()).contains(List.of());
    database.execute(
        "revoke insert (who) on outbox_archive_audit from " + relay,
        "revoke execute on function outbox_archive_keep from " + relay,
        "revoke insert on outbox_archive_message from " + relay);
    assertThat(store.missingGrants().orElseThrow())
        .containsExactly(
            "grant select, insert on outbox_archive_message to " + relay,
            "grant select, insert (action, who, reason, seq, message_id) on outbox_archive_audit to "
                + relay,
            "grant execute on function outbox_archive_keep to " + relay);
  }

  @Test
  @DisplayName("a producer that may not append is told what it lacks")
  void missingForProducer() {
    PostgresOutboxStore store = PostgresOutboxStore.of(as(relay));
    assertThatThrownBy(() -> Jdbc.inTransaction(as(relay), c -> store.append(c, message("1"))))
        .isInstanceOf(OutboxException.class)
        .hasMessageContaining("run: grant insert (id, ")
        .hasMessageContaining("on outbox_message to this user");
  }

  @ParameterizedTest
  @ValueSource(strings = {"schema", "message", "bucket", "blocked_key"})
  @DisplayName("do not help where row level security hides rows, and a relay says so")
  void hidden(String table) {
    database.execute("alter table outbox_%s enable row level security".formatted(table));
    PostgresOutboxStore store = PostgresOutboxStore.of(as(relay));
    String sentence =
        "row level security hides all rows of outbox_%s from this user".formatted(table);
    assertThatThrownBy(store::verify)
        .isInstanceOf(PermanentOutboxException.class)
        .hasMessageContaining(sentence);
    database.execute(
        "create policy others on outbox_%s to %s using (true)".formatted(table, producer),
        "create policy deletes on outbox_%s for delete using (true)".formatted(table));
    assertThatThrownBy(store::verify).hasMessageContaining(sentence);
    database.execute(
        "create policy ours on outbox_%s to %s using (current_user = '%s')"
            .formatted(table, relay, relay));
    assertThatCode(store::verify).doesNotThrowAnyException();
  }

  @Test
  @DisplayName("are not named where a policy refuses a producer's rows")
  void refusedByPolicy() {
    database.execute("alter table outbox_message enable row level security");
    PostgresOutboxStore store = PostgresOutboxStore.of(as(producer));
    assertThatCode(store::verify).as("it need not see messages").doesNotThrowAnyException();
    assertThatThrownBy(() -> Jdbc.inTransaction(as(producer), c -> store.append(c, message("1"))))
        .isInstanceOf(PermanentOutboxException.class)
        .hasMessageContaining("let the table's policies pass all rows of this user")
        .hasMessageNotContaining("grant insert");
  }

  @Test
  @DisplayName(
      "of a producer and of a relay together let one append and hand over; a producer only appends")
  void handsOver() {
    String both = database.schema() + "_both";
    database.execute("create role " + both, "grant %s, %s to %s".formatted(producer, relay, both));
    try {
      assertThat(handedOver(PostgresOutboxStore.of(as(relay)), producer)).isFalse();
      PostgresOutboxStore store = PostgresOutboxStore.of(as(relay));
      assertThat(handedOver(store, both)).isTrue();
      assertThatThrownBy(() -> handedOver(store, producer))
          .as("whose role was set to another one since it was asked")
          .isInstanceOf(OutboxException.class)
          .hasMessageContaining("grant select, update, delete on outbox_message to this user");
      assertThat(handedOver(store, producer)).isFalse();
    } finally {
      database.execute("drop role " + both);
    }
  }

  @Test
  @DisplayName("of a relay that a producer is given later let it hand over within a minute")
  void handsOverLater() throws SQLException {
    String later = database.schema() + "_later";
    database.execute("create role " + later, "grant %s to %s".formatted(producer, later));
    AtomicLong clock = new AtomicLong();
    Append append = new Append(new PrefixedNames(null, PrefixedNames.DEFAULT_PREFIX), clock::get);
    try {
      assertThat(mayHandOver(append, later)).isFalse();
      database.execute("grant %s to %s".formatted(relay, later));
      clock.addAndGet(TimeUnit.MINUTES.toNanos(1) - 1);
      assertThat(mayHandOver(append, later)).as("what is remembered").isFalse();
      clock.addAndGet(1);
      assertThat(mayHandOver(append, later)).isTrue();
    } finally {
      database.execute("drop role " + later);
    }
  }

  private boolean mayHandOver(Append append, String role) throws SQLException {
    try (Connection connection = as(role).getConnection()) {
      connection.setAutoCommit(false);
      return append.appendToHandOver(connection, List.of(message("1")), List.of()).isPresent();
    }
  }

  /** Whether a message of a key that is held was handed over. */
  private boolean handedOver(PostgresOutboxStore relays, String role) {
    Claim.Request request = new Claim.Request("r", 100, 1_000_000, Duration.ofMinutes(1));
    AtomicBoolean handedOver = new AtomicBoolean();
    database.execute("delete from outbox_message");
    try (Keeper keeper = keeperOfAll(relays, database, Duration.ofMinutes(1))) {
      for (int i = 0; i < 100 && !handedOver.get(); i++) {
        AtomicReference<Uncommitted> uncommitted = new AtomicReference<>();
        Jdbc.inTransaction(
            as(role), c -> uncommitted.set(relays.append(keeper, c, List.of(message("1")))));
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
}
