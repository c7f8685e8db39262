package dev.outbox.store.postgres;

import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.SchemaException;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.store.jdbc.ArchiveTests;
import dev.outbox.store.jdbc.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The archive")
class ArchiveTest extends ArchiveTests {
  private static final String PARTITIONS =
      "select count(*) from pg_inherits where inhparent = 'outbox_archive_message'::regclass";

  private static final String TODAY =
      "to_char(statement_timestamp() at time zone 'UTC', 'YYYYMMDD')";

  ArchiveTest() {
    super(new Postgres());
  }

  /** Makes a day that is missing. */
  @Override
  protected void keep(Connection transaction) {
    database.execute("drop table outbox_archive_message_" + day(-3));
    TestDatabase.execute(transaction, "select outbox_archive_keep(30)");
  }

  // ---- days

  private String day(int daysAgo) {
    return database.query(
        "select to_char((statement_timestamp() at time zone 'UTC') - interval '%d days', 'YYYYMMDD')"
            .formatted(daysAgo));
  }

  /** A day that was made when it was today. */
  private void makeDay(int daysAgo) {
    database.execute(
        """
        create table outbox_archive_message_%1$s partition of outbox_archive_message
        for values from ('%1$s 00:00:00+00') to (timestamptz '%1$s 00:00:00+00' + interval '24 hours')
        """
            .formatted(day(daysAgo)));
  }

  private boolean isThere(int daysAgo) {
    return "t"
        .equals(
            database.query(
                "select to_regclass('outbox_archive_message_%s') is not null"
                    .formatted(day(daysAgo))));
  }

  /** Tests name days: they begin after midnight when it is near. */
  @BeforeAll
  static void awaitMidnight() {
    await()
        .atMost(Duration.ofMinutes(6))
        .until(() -> LocalTime.now(ZoneOffset.UTC).isBefore(LocalTime.of(23, 55)));
  }

  @Test
  @DisplayName("a migration makes the partitions of today and three days more; a settle uses them")
  void partitions() {
    assertThat(database.query(PARTITIONS)).as("with the one for the rest").isEqualTo("5");
    append(message("a"), message("b"));
    assertThat(delivered()).hasSize(2);
    assertThat(archived()).hasSize(2);
    assertThat(
            database.query(
                "select string_agg(distinct tableoid::regclass::text, ',') from outbox_archive_message"))
        .endsWith(database.query("select " + TODAY));
  }

  @Test
  @DisplayName("housekeeping makes the days that are missing, and drops those that are over")
  void days() {
    for (int daysAgo : List.of(40, 31, 30, 29)) {
      makeDay(daysAgo);
    }
    database.execute("drop table outbox_archive_message_" + day(0));
    store.housekeep();
    assertThat(isThere(0)).as("today").isTrue();
    assertThat(isThere(29)).as("29 days ago").isTrue();
    assertThat(isThere(30)).as("30 days ago, some of which is younger than 30 days").isTrue();
    assertThat(isThere(31)).as("31 days ago").isFalse();
    assertThat(isThere(40)).as("40 days ago").isFalse();
    builder(database.pool)
        .archive(Archive.METADATA)
        .archiveRetention(Duration.ofHours(700))
        .build()
        .housekeep();
    assertThat(isThere(30)).as("30 days ago, when 700 hours are kept").isTrue();
    builder(database.pool)
        .archive(Archive.METADATA)
        .archiveRetention(Duration.ofDays(28))
        .build()
        .housekeep();
    assertThat(isThere(29)).as("29 days ago, when 28 are kept").isFalse();
  }

  @Test
  @DisplayName("without a partition for the day a settle works all the same, and the row is kept")
  void noPartition() {
    database.execute("drop table outbox_archive_message_" + day(0));
    append(message("a"));
    assertThat(delivered()).hasSize(1);
    assertThat(database.query("select count(*) from outbox_archive_message_rest")).isEqualTo("1");
    store.housekeep();
    assertThat(isThere(0)).as("a partition for a day of which there are rows already").isFalse();
    assertThat(archived()).hasSize(1);
    database.execute(
        "update outbox_archive_message_rest set archived_at = archived_at - interval '32 days'");
    store.housekeep();
    assertThat(archived()).as("after 32 days").isEmpty();
    assertThat(isThere(0)).isTrue();
  }

  @Test
  @DisplayName("a settle that is under way is not waited for: the day is dropped the next time")
  void dropsLater() throws SQLException {
    makeDay(40);
    try (Connection settling = database.pool.getConnection();
        Statement statement = settling.createStatement()) {
      settling.setAutoCommit(false);
      statement.execute("lock table outbox_archive_message in row exclusive mode");
      store.housekeep();
      assertThat(isThere(40)).as("while a settle is under way").isTrue();
      append(message("a"));
      assertThat(delivered()).as("delivered beside it").hasSize(1);
      settling.rollback();
    }
    store.housekeep();
    assertThat(isThere(40)).as("after it").isFalse();
  }

  @Test
  @DisplayName("a day that cannot be dropped keeps no other one, and each is dropped by itself")
  void dropsOthers() throws SQLException {
    for (int daysAgo : List.of(43, 42, 41, 40)) {
      makeDay(daysAgo);
    }
    database.execute("create view of_a_day as select * from outbox_archive_message_" + day(43));
    try (Connection reading = database.pool.getConnection();
        Statement statement = reading.createStatement()) {
      reading.setAutoCommit(false);
      statement.execute(
          "lock table outbox_archive_message_%s in access share mode".formatted(day(42)));
      assertThat(database.query("select outbox_archive_keep(30)")).as("more").isEqualTo("t");
      assertThat(isThere(41)).as("41 days ago").isFalse();
      assertThat(isThere(40)).as("40 days ago, after one was dropped").isTrue();
      store.housekeep();
      assertThat(isThere(40)).as("40 days ago").isFalse();
      assertThat(isThere(42)).as("42 days ago, while it is read").isTrue();
      reading.rollback();
    }
    store.housekeep();
    assertThat(isThere(42)).as("42 days ago, after it was read").isFalse();
    assertThat(isThere(43)).as("43 days ago, of which there is a view").isTrue();
  }

  @Test
  @DisplayName("a day begins at midnight in UTC, wherever the session is")
  void daysOfUtc() throws SQLException {
    try (Connection far = database.pool.getConnection();
        Statement statement = far.createStatement()) {
      for (String zone : List.of("Pacific/Kiritimati", "Pacific/Pago_Pago")) {
        for (int daysAgo : List.of(0, -1, -3)) {
          database.execute("drop table outbox_archive_message_" + day(daysAgo));
        }
        statement.execute("set timezone = '%s'".formatted(zone));
        statement.execute("select outbox_archive_keep(30)");
        statement.execute("reset timezone");
        for (int daysAgo : List.of(0, -1, -3)) {
          assertThat(partition(day(daysAgo) + " 00:00:00+00")).as(zone).endsWith(day(daysAgo));
          assertThat(partition(day(daysAgo) + " 23:59:59.999999+00"))
              .as(zone)
              .endsWith(day(daysAgo));
        }
      }
    }
  }

  /** Where a row goes that leaves at this time. */
  private String partition(String time) {
    database.execute(
        "delete from outbox_archive_message",
        """
        insert into outbox_archive_message (archived_at, outcome, seq, id, aggregate_type, aggregate_id,
          event_type, content_type, created_at, attempts)
        values ('%s', 'DELIVERED', 1, gen_random_uuid(), 't', 'i', 'e', 'c', now(), 0)
        """
            .formatted(time));
    return database.query("select tableoid::regclass::text from outbox_archive_message");
  }

  @Test
  @DisplayName("a settle that finds no partition is tried again, and works once there is one")
  void nowhere() {
    append(message("a"));
    Claim claim = store.claim(request());
    database.execute(
        "drop table outbox_archive_message_" + day(0), "drop table outbox_archive_message_rest");
    Map<Long, Decision> delivered =
        Map.of(claim.messages().get(0).sequence(), Decision.delivered());
    assertThatThrownBy(() -> claim.settle(delivered))
        .isInstanceOf(TransientOutboxException.class)
        .hasMessageContaining("let housekeeping make it (outbox_archive_keep)");
    store.housekeep();
    assertThat(claim.settle(delivered)).isEmpty();
    assertThat(archived()).hasSize(1);
  }

  @Test
  @DisplayName("housekeeping makes the partition for the rest again, where somebody dropped it")
  void restIsMadeAgain() {
    String described =
        "select relreplident::text || pg_get_expr(relpartbound, oid) from pg_class"
            + " where oid = 'outbox_archive_message_rest'::regclass";
    String made = database.query(described);
    database.execute("drop table outbox_archive_message_rest");
    store.housekeep();
    assertThat(database.query(described)).isEqualTo(made);
    database.execute(
        "alter table outbox_archive_message detach partition outbox_archive_message_rest");
    store.housekeep(); // somebody keeps it under its name
    database.execute("alter table outbox_archive_message_rest rename to kept");
    store.housekeep();
    assertThat(database.query(described)).isEqualTo(made);
  }

  @Test
  @DisplayName("no lock that anybody can take keeps housekeeping from it")
  void lockOfAnybody() throws SQLException {
    makeDay(40);
    try (Connection anybody = database.pool.getConnection();
        Statement statement = anybody.createStatement()) {
      anybody.setAutoCommit(false);
      statement.execute(
          "select pg_advisory_xact_lock('outbox_archive_message'::regclass::oid::bigint)");
      store.housekeep();
      assertThat(isThere(40)).as("40 days ago").isFalse();
      anybody.rollback();
    }
  }

  @Test
  @DisplayName("of many that keep it at once one does, and nobody waits")
  void oneKeeper() throws SQLException {
    makeDay(40);
    database.execute("drop table outbox_archive_message_" + day(-3));
    try (Connection keeping = database.pool.getConnection();
        Statement statement = keeping.createStatement()) {
      keeping.setAutoCommit(false);
      statement.execute("select outbox_archive_keep(30)");
      store.housekeep();
      assertThat(isThere(40)).as("40 days ago, while another makes a day").isTrue();
      keeping.rollback();
    }
    store.housekeep();
    assertThat(isThere(40)).as("40 days ago, after it").isFalse();
  }

  @Test
  @DisplayName("a settle that goes to the rest while its day is made goes there")
  void dayIsMadeMeanwhile() throws SQLException {
    append(message("a"));
    database.execute("drop table outbox_archive_message_" + day(0));
    try (Connection keeping = database.pool.getConnection();
        Statement statement = keeping.createStatement()) {
      keeping.setAutoCommit(false);
      statement.execute("select outbox_archive_keep(30)");
      CompletableFuture<List<OutboxMessage>> settled =
          CompletableFuture.supplyAsync(this::delivered);
      await()
          .until(
              () ->
                  "1"
                      .equals(
                          database.query(
                              "select count(*) from pg_locks where not granted and relation = 'outbox_archive_message_rest'::regclass")));
      keeping.commit();
      assertThat(settled.join()).hasSize(1);
    }
    assertThat(database.query("select count(*) from outbox_archive_message_" + day(0)))
        .isEqualTo("1");
  }

  // ---- who may

  private void assumeRolesCanBeMade() {
    assumeTrue(
        database
            .query("select rolsuper or rolcreaterole from pg_roles where rolname = current_user")
            .equals("t"),
        "the user of outbox.test.postgres.url may not create roles");
  }

  /** As a role that may call the function, and no more. */
  private void asIntruder(StatementWork work) throws Exception {
    assumeRolesCanBeMade();
    String relay = database.schema() + "_intruder";
    String hostile = database.schema() + "_hostile";
    database.execute(
        "create role " + relay,
        "create schema %s authorization %s".formatted(hostile, relay),
        "grant usage on schema %s to %s".formatted(database.schema(), relay),
        "grant execute on function outbox_archive_keep to " + relay);
    try (Connection connection = RoleDataSource.of(database.pool, relay).getConnection();
        Statement statement = connection.createStatement()) {
      try {
        work.in(statement, hostile);
      } finally {
        statement.execute("discard temp; reset search_path");
      }
    } finally {
      database.execute("drop owned by %1$s; drop role %1$s".formatted(relay));
    }
  }

  private interface StatementWork {
    void in(Statement statement, String hostile) throws Exception;
  }

  @Test
  @DisplayName("the function that keeps it is not misled by what its caller puts in its way")
  void notMisled() throws Exception {
    asIntruder(this::misleads);
  }

  private void misleads(Statement statement, String hostile) throws SQLException {
    makeDay(40);
    database.execute("drop table outbox_archive_message_" + day(-2));
    statement.execute(
        """
        create table ${h}.mark (who text);
        create function ${h}.seen() returns boolean language sql security invoker
          as 'insert into ${h}.mark values (current_user) returning true';
        create temporary table outbox_archive_message (archived_at timestamptz)
          partition by range (archived_at);
        create temporary table outbox_archive_message_rest partition of outbox_archive_message default;
        create temporary table pg_class as select * from pg_catalog.pg_class limit 0;
        create temporary table pg_inherits as select * from pg_catalog.pg_inherits limit 0;
        create temporary table pg_partitioned_table (partrelid oid, partdefid oid);
        create domain pg_temp.date as pg_catalog.date check (${h}.seen());
        create domain pg_temp.regclass as pg_catalog.regclass check (${h}.seen());
        create function pg_temp.to_regclass(text) returns pg_catalog.regclass language sql
          as 'select case when ${h}.seen() then pg_catalog.to_regclass($1) end';
        create function ${h}.to_regclass(text) returns pg_catalog.regclass language sql
          as 'select case when ${h}.seen() then pg_catalog.to_regclass($1) end';
        create function ${h}.minus(pg_catalog.date, integer) returns pg_catalog.date language sql
          as 'select case when ${h}.seen() then $1 end';
        create operator ${h}.- (function = ${h}.minus, leftarg = pg_catalog.date, rightarg = integer);
        create function ${h}.outbox_archive_keep_in(pg_catalog.regclass, integer) returns boolean
          language sql as 'select ${h}.seen()';
        set search_path = pg_temp, ${h}, pg_catalog, ${s}
        """
            .replace("${h}", hostile)
            .replace("${s}", database.schema()));
    for (int call = 0; call < 5; call++) {
      statement.execute("select %s.outbox_archive_keep(30)".formatted(database.schema()));
    }
    assertThat(database.query("select string_agg(who, ', ') from %s.mark".formatted(hostile)))
        .as("as whom something of the caller's was run")
        .isNull();
    assertThat(isThere(-2)).as("the day that was missing").isTrue();
    assertThat(isThere(40)).as("40 days ago").isFalse();
    assertThat(database.query(PARTITIONS)).isEqualTo("5");
    assertThat(
            database.query(
                "select count(*) from pg_inherits i join pg_class c on c.oid = i.inhparent"
                    + " where c.relname = 'outbox_archive_message' and c.relpersistence = 't'"))
        .as("partitions of the caller's table")
        .isEqualTo("1");
  }

  @Test
  @DisplayName("the function that keeps it drops neither today nor yesterday, whatever it is told")
  void notAnyDays() throws Exception {
    asIntruder(this::asksForDays);
  }

  private void asksForDays(Statement statement, String hostile) throws SQLException {
    makeDay(1);
    makeDay(2);
    String keep = "select %s.outbox_archive_keep".formatted(database.schema());
    for (String days : List.of("0", "-1", "null", "-2147483648", "36501")) {
      assertThatThrownBy(() -> statement.execute(keep + "(" + days + ")"))
          .as(days)
          .hasMessageContaining("keep_days is %s, 1 to 36500 are allowed".formatted(days));
    }
    for (int call = 0; call < 3; call++) {
      statement.execute(keep + "(1)");
    }
    assertThat(isThere(2)).as("the day before yesterday").isFalse();
    assertThat(isThere(1)).as("yesterday").isTrue();
    assertThat(isThere(0)).as("today").isTrue();
    assertThatThrownBy(
            () ->
                statement.execute(
                    "select %1$s.outbox_archive_keep_in('%1$s.outbox_message'::regclass, 1)"
                        .formatted(database.schema())))
        .hasMessageContaining("permission denied");
  }

  @Test
  @DisplayName("a schema may be renamed")
  void renamed() throws Exception {
    database.execute("drop table outbox_archive_message_" + day(-3));
    String other = database.schema() + "_2";
    database.execute("alter schema %s rename to %s".formatted(database.schema(), other));
    try {
      assertThat(database.query("select %s.outbox_archive_keep(30)".formatted(other)))
          .isEqualTo("t");
    } finally {
      database.execute("alter schema %s rename to %s".formatted(other, database.schema()));
    }
    assertThat(isThere(-3)).isTrue();
  }

  @Test
  @DisplayName("a migration that fails in the middle has made nothing, and is made again")
  void interrupted() {
    database.empty();
    builder(database.pool).build().migrate();
    database.execute(
        "create function outbox_archive_keep(keep_days integer) returns boolean language sql as 'select true'");
    assertThatThrownBy(store::migrate).hasMessageContaining("outbox_archive_keep");
    database.execute("drop function outbox_archive_keep(integer)");
    assertThat(database.query("select to_regclass('outbox_archive_message')")).isNull();
    assertThatThrownBy(store::verify).isInstanceOf(SchemaException.class);
    store.migrate();
    store.verify();
    append(message("a"));
    assertThat(delivered()).hasSize(1);
    store.housekeep();
    assertThat(database.query(PARTITIONS)).isEqualTo("5");
  }

  @Test
  @DisplayName("a prefix that leaves no room for the archive's names is refused")
  void longPrefix() {
    String prefix = "a23456789012345678901_";
    assertThat(prefix).hasSize(22);
    assertThat(builder(database.pool).prefix(prefix).archive(Archive.FULL).build()).isNotNull();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder(database.pool).prefix("b" + prefix).archive(Archive.FULL).build())
        .withMessageContaining("has 23 characters, with an archive at most 22 are allowed");
  }

  // ---- what it costs

  @Test
  @DisplayName("a range that held other messages than were delivered archives each once")
  void rangeOfOthers() {
    List<OutboxMessage> messages = IntStream.range(0, 10).mapToObj(i -> message("same")).toList();
    append(messages.toArray(OutboxMessage[]::new));
    Claim claim = store.claim(request());
    assertThat(claim.messages()).hasSize(10);
    database.execute(
        "delete from outbox_message where seq = " + claim.messages().get(4).sequence());
    assertThat(claim.settle(all(claim, Decision.delivered()))).isEmpty();
    List<UUID> expected =
        IntStream.range(0, 10).filter(i -> i != 4).mapToObj(i -> messages.get(i).id()).toList();
    assertThat(archived()).containsExactlyElementsOf(expected);
  }
}
