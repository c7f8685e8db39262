package dev.outbox.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.outbox.OutboxMessage;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RelayEvent;
import dev.outbox.relay.RetryPolicy;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * What somebody writes into the tables by plain SQL stops nobody: the schema refuses it, or a relay
 * delivers it, or it becomes a dead letter with a sentence (A5, C7); and no row of the store's own
 * that was overwritten keeps a message from coming.
 */
public abstract class HostileRowsTests extends DatabaseTests {

  /** What becomes of a row. */
  public enum Fate {
    /** By the schema. */
    REFUSED,
    DELIVERED,
    DEAD,
    /** Not due while the test runs. */
    LATER
  }

  /**
   * A row, or a change of the store's own.
   *
   * @param sql with {@code ?} for each text
   */
  public record Hostile(String what, Fate fate, String sql, List<String> texts) {
    @Override
    public String toString() {
      return what + ": " + fate;
    }
  }

  /** The key of the hostile row, unless it has another. */
  private static final String KEY = "hostile";

  private static final String PARTITION_KEY = "partition_key";

  private static final List<String> TEXT_COLUMNS =
      List.of(
          "aggregate_type",
          "aggregate_id",
          "event_type",
          PARTITION_KEY,
          "content_type",
          "dedup_key",
          "correlation_id");

  /** Each is carried as it is. */
  private static final List<String> CARRIED =
      List.of(
          "'; drop table outbox_message; --",
          "\" ` ' \\ \\' $$ $1 :name ? ?? %s %n {0} {} ${env:PATH} ${jndi:ldap://127.0.0.1/x}",
          "<script>&lt;\r\nSet-Cookie: a=b\r\n",
          "\u001B[2J\u202Eright to left\u2066\uFEFF",
          "trailing  ",
          "x".repeat(OutboxMessage.MAX_TEXT - 1) + " ",
          "\uD83D\uDCE6".repeat(OutboxMessage.MAX_TEXT),
          "null");

  /** Blank for Java, and more than spaces for the schema. */
  private static final List<String> BLANK = List.of("\t", "\r\n", "\u2003");

  private static final Map<String, Function<OutboxMessage, String>> FIELDS =
      Map.of(
          "aggregate_type", OutboxMessage::aggregateType,
          "aggregate_id", OutboxMessage::aggregateId,
          "event_type", OutboxMessage::eventType,
          "partition_key", OutboxMessage::partitionKey,
          "content_type", OutboxMessage::contentType,
          "dedup_key", OutboxMessage::dedupKey,
          "correlation_id", OutboxMessage::correlationId);

  private final List<String> storeFailures = new CopyOnWriteArrayList<>();
  private final List<StoredMessage> delivered = new CopyOnWriteArrayList<>();

  /** Whether there is what damages are made to, and nothing has changed it. */
  private boolean undamaged;

  protected HostileRowsTests(TestedStore tested) {
    super(tested);
  }

  /** Rows that only this database can have, or of which it has an opinion of its own. */
  protected abstract List<Hostile> rows();

  /** Statements on rows of the store's own, after which all messages must come all the same. */
  protected abstract List<Hostile> damages();

  /** A time as an expression. */
  protected abstract String time(String utc);

  /** So many bytes as an expression. */
  protected abstract String bytes(int count);

  /** Two rows of two keys with one sequence; where the schema lets them in, they are delivered. */
  protected abstract Hostile twins(String key, String other);

  /** What becomes of a row that is not too large, and wrong in a way that decoding finds. */
  protected Fate wrong() {
    return Fate.REFUSED;
  }

  /** What becomes of a row that is due later than any message may be. */
  protected Fate never() {
    return Fate.REFUSED;
  }

  /** Sets the session up for a hostile statement. */
  protected void enter(Statement session) throws SQLException {}

  /** Undoes it. */
  protected void leave(Statement session) throws SQLException {}

  // ---- what is tried

  /** A row that is good but for one column. */
  protected static Hostile row(Fate fate, String column, String expression, String... texts) {
    return row(
        "%s = %s %s".formatted(column, expression, String.join(" ", texts)),
        fate,
        Map.of(column, expression),
        texts);
  }

  protected static Hostile row(
      String what, Fate fate, Map<String, String> values, String... texts) {
    Map<String, String> columns = new LinkedHashMap<>();
    columns.put("aggregate_type", "'order'");
    columns.put("aggregate_id", "'" + KEY + "'");
    columns.put("event_type", "'Placed'");
    columns.put("payload", "''");
    columns.putAll(values);
    String sql =
        "insert into outbox_message (%s) values (%s)"
            .formatted(String.join(", ", columns.keySet()), String.join(", ", columns.values()));
    return new Hostile(what, fate, sql, List.of(texts));
  }

  protected static Hostile damage(String sql) {
    return damage(Fate.DELIVERED, sql);
  }

  protected static Hostile damage(Fate fate, String sql) {
    return new Hostile(sql, fate, sql, List.of());
  }

  private List<Hostile> texts() {
    List<Hostile> rows = new ArrayList<>();
    List<String> unkeyed = new ArrayList<>(TEXT_COLUMNS);
    unkeyed.remove(PARTITION_KEY);
    for (String text : CARRIED) {
      rows.add(carried(unkeyed, text));
      rows.add(carried(List.of(PARTITION_KEY), text));
    }
    for (String column : TEXT_COLUMNS) {
      BLANK.forEach(text -> rows.add(row(Fate.DEAD, column, "?", text)));
      for (String text : List.of("", "   ")) {
        rows.add(row(wrong(), column, "?", text));
      }
      for (String text : List.of("x".repeat(256), "\uD83D\uDCE6".repeat(10_000))) {
        rows.add(row(Fate.REFUSED, column, "?", text));
      }
    }
    for (String required : TEXT_COLUMNS.subList(0, 3)) {
      rows.add(row(Fate.REFUSED, required, "null"));
    }
    return rows;
  }

  /** A row that has the text in these columns. */
  private static Hostile carried(List<String> columns, String text) {
    return row(
        "%s = ? %s".formatted(String.join(", ", columns), text),
        Fate.DELIVERED,
        columns.stream().collect(Collectors.toMap(column -> column, column -> "?")),
        Collections.nCopies(columns.size(), text).toArray(String[]::new));
  }

  /** In every database alike. */
  private List<Hostile> everywhere() {
    List<Hostile> rows = new ArrayList<>(texts());
    for (String status : List.of("'SENT'", "'pending'", "''", "null")) {
      rows.add(row(Fate.REFUSED, "status", status));
    }
    rows.add(row(Fate.DEAD, "status", "'DEAD'"));
    rows.add(row(Fate.DELIVERED, "status", "'BLOCKED'"));
    rows.add(row(Fate.REFUSED, "status", "'SCHEDULED'"));
    rows.add(
        row(
            "SCHEDULED and due",
            Fate.DELIVERED,
            Map.of("status", "'SCHEDULED'", "available_at", time("1970-01-01 00:00:00"))));
    rows.add(row(Fate.REFUSED, "payload", "null"));
    rows.add(row(Fate.DELIVERED, "payload", bytes(1_000_000)));
    rows.add(row(Fate.REFUSED, "payload", bytes(1_000_001)));
    for (String headers :
        List.of(
            "[1]",
            "[[]]",
            "[[\"a\"]]",
            "[[\"a\",\"b\",\"c\"]]",
            "[[\"a\",null]]",
            "[[\"a\",[\"b\"]]]",
            "[[\"\",\"v\"]]",
            "[[\"n\\u0000\",\"v\"]]",
            "[[\"n\",\"v\\u0000\"]]",
            "{\"a\":1}",
            "{\"a\":{\"b\":\"c\"}}",
            "{\"a\":[\"b\"]}",
            "{\"a\":null}",
            "[[\"n\",\"" + "v".repeat(16_000) + "\"]]",
            "[" + "[\"n\",\"v\"],".repeat(100) + "[\"n\",\"v\"]]",
            "[".repeat(30) + "]".repeat(30))) {
      rows.add(row(Fate.DEAD, "headers", "'" + headers.replace("\\", backslash()) + "'"));
    }
    for (String headers :
        List.of(
            "{}",
            "{\"a\":\"b\",\"a\":\"c\"}",
            "[[\"Set-Cookie\\r\\nx\",\"v\\r\\nInjected: yes\"]]",
            "[[\"n\",\"" + "v".repeat(15_999) + "\"]]",
            "{\"${jndi:ldap://127.0.0.1/x}\":\"<a href=\\\"x\\\">\"}")) {
      rows.add(row(Fate.DELIVERED, "headers", "'" + headers.replace("\\", backslash()) + "'"));
    }
    for (String headers : List.of("17", "null")) {
      rows.add(row(wrong(), "headers", "'" + headers + "'"));
    }
    for (String headers : List.of("", "no JSON", "[", "[[\"cut", "'')--")) {
      rows.add(row(Fate.REFUSED, "headers", "'" + headers.replace("'", "''") + "'"));
    }
    rows.add(row(Fate.REFUSED, "attempts", "-1"));
    rows.add(row(Fate.REFUSED, "attempts", "null"));
    rows.add(row(Fate.DEAD, "attempts", "2147483647"));
    rows.add(row(wrong(), "max_attempts", "0"));
    rows.add(row(wrong(), "max_attempts", "-1"));
    rows.add(row(Fate.DELIVERED, "max_attempts", "2147483647"));
    rows.add(row(Fate.REFUSED, "created_at", "null"));
    rows.add(row(Fate.DELIVERED, "created_at", time("0001-01-01 00:00:00")));
    rows.add(row(Fate.DELIVERED, "created_at", time("9998-12-31 23:59:59.999999")));
    rows.add(row(wrong(), "available_at", time("1969-12-31 23:59:59")));
    rows.add(row(Fate.DELIVERED, "available_at", time("1970-01-01 00:00:00")));
    rows.add(row(Fate.LATER, "available_at", time("9998-12-31 23:59:59.999999")));
    rows.add(row(never(), "available_at", time("9999-01-01 00:00:00")));
    rows.add(row(Fate.DELIVERED, "last_error", "repeat('\u202E', 20000)"));
    rows.add(row(Fate.DELIVERED, "last_failed_at", time("1000-01-01 00:00:00")));
    return rows;
  }

  /** How a backslash stands in a literal. */
  protected String backslash() {
    return "\\";
  }

  private List<Hostile> damagesEverywhere() {
    List<Hostile> damages = new ArrayList<>();
    for (String value : List.of("-9223372036854775808", "-1", "9223372036854775807")) {
      damages.add(damage(Fate.REFUSED, "update outbox_bucket set token = " + value));
      damages.add(damage("update outbox_blocked_key set low_seq = " + value));
      damages.add(damage("update outbox_blocked_key set halted_by = " + value));
    }
    for (String column : List.of("takeovers", "singles")) {
      String set = "update outbox_bucket set " + column + " = ";
      damages.add(damage(Fate.REFUSED, set + "-2147483648"));
      damages.add(damage(Fate.REFUSED, set + "-1"));
      damages.add(damage(set + "2147483647"));
    }
    for (String value : List.of(time("0001-01-01 00:00:00"), time("9999-12-31 00:00:00"))) {
      damages.add(damage("update outbox_bucket set served_at = " + value));
      damages.add(damage("update outbox_bucket set leased_at = " + value));
    }
    damages.add(damage("update outbox_bucket set worker = ''"));
    damages.add(damage("delete from outbox_bucket where bucket > 0"));
    damages.add(damage("delete from outbox_blocked_key"));
    damages.add(damage("update outbox_blocked_key set retry_at = " + time("0001-01-01 00:00:00")));
    damages.add(
        damage(
            "insert into outbox_dedup (dedup_key, created_at) values ('x', %s), ('y', %s)"
                .formatted(time("0001-01-01 00:00:00"), time("9999-12-31 00:00:00"))));
    damages.add(damage(Fate.REFUSED, "insert into outbox_bucket (bucket) values (64)"));
    damages.add(damage(Fate.REFUSED, "insert into outbox_bucket (bucket) values (-1)"));
    damages.add(damage("update outbox_blocked_key set bucket = (bucket + 1) % 64"));
    return damages;
  }

  private Stream<Hostile> all() {
    return Stream.concat(everywhere().stream(), rows().stream());
  }

  /** The rows that the schema refuses. */
  protected final List<Hostile> refused() {
    return all().filter(hostile -> hostile.fate == Fate.REFUSED).toList();
  }

  // ---- the tests

  @TestFactory
  @DisplayName("A row by plain SQL")
  Stream<DynamicTest> row() {
    return all()
        .map(
            hostile ->
                dynamicTest(
                    shown(hostile.toString()), () -> named(hostile, () -> tryRow(hostile))));
  }

  @TestFactory
  @DisplayName("Rows of the store's own overwritten")
  Stream<DynamicTest> damage() {
    return Stream.concat(damagesEverywhere().stream(), damages().stream())
        .map(
            hostile ->
                dynamicTest(
                    shown(hostile.toString()), () -> named(hostile, () -> tryDamage(hostile))));
  }

  private static void named(Hostile hostile, Runnable test) {
    try {
      test.run();
    } catch (AssertionError e) {
      throw new AssertionError(shown(hostile.toString()) + ": " + e.getMessage(), e);
    }
  }

  /** As a test's name: reports are XML. */
  private static String shown(String text) {
    String plain = text.replaceAll("[^ -~]", "?");
    return plain.length() <= 120 ? plain : plain.substring(0, 100) + "... " + text.length();
  }

  private void tryRow(Hostile hostile) {
    if (hostile.fate != Fate.REFUSED) {
      begin();
    }
    if (isRefused(hostile)) {
      return;
    }
    append("a", "b");
    follower(hostile);
    boolean comes = hostile.fate == Fate.DELIVERED;
    int come = 2;
    int die = hostile.fate == Fate.DEAD ? 1 : 0;
    // What makes a key bad makes its followers bad.
    if (die == 1 && sharesText(hostile)) {
      die++;
    } else {
      come++;
    }
    assertThat(store.statistics(10_000).pending()).as("pending").isGreaterThanOrEqualTo(2);
    relay(come + (comes ? 1 : 0), die);
    assertThat(delivered.stream().filter(m -> List.of("a", "b").contains(m.key())))
        .as("messages of other keys")
        .hasSize(2);
    assertThat(delivered).as("delivered").hasSize(come + (comes ? 1 : 0));
    List<DeadLetter> dead = store.deadLetters(0, 10);
    assertThat(dead).as("dead letters").hasSize(die);
    assertThat(store.statistics(10_000).dead()).isEqualTo(die);
    if (hostile.fate == Fate.DELIVERED) {
      assertCarried(hostile);
    }
    dead.forEach(letter -> operate(hostile, letter));
    long left = hostile.fate == Fate.LATER ? 1 : 0;
    assertThat(database.query("select count(*) from outbox_message")).isEqualTo("" + left);
  }

  /** Another row with the key of the hostile one. */
  private void follower(Hostile hostile) {
    if (sharesText(hostile)) {
      execute(hostile.sql, hostile.texts);
    } else {
      execute(row("", Fate.DELIVERED, Map.of()).sql, List.of());
    }
  }

  private static boolean sharesText(Hostile hostile) {
    return hasText(hostile, "aggregate_id") || hasText(hostile, PARTITION_KEY);
  }

  private static boolean hasText(Hostile hostile, String column) {
    return hostile.what.matches("(?s)([a-z_]+, )*" + column + "(, [a-z_]+)* = \\?.*");
  }

  private void assertCarried(Hostile hostile) {
    FIELDS.forEach(
        (column, field) -> {
          if (hasText(hostile, column)) {
            assertThat(delivered.stream().filter(m -> m.problem() == null).map(m -> m.message()))
                .as(column)
                .anyMatch(m -> hostile.texts.get(0).equals(field.apply(m)));
          }
        });
  }

  private void operate(Hostile hostile, DeadLetter letter) {
    if (!hostile.sql.contains("'DEAD'")) {
      assertThat(letter.error()).as("it says why").isNotBlank();
    }
    long sequence = letter.message().sequence();
    assertThat(store.requeue(sequence)).as("requeued").isTrue();
    relay(0);
    boolean again =
        store.deadLetters(0, 10).stream().anyMatch(l -> l.message().sequence() == sequence);
    assertThat(store.discard(sequence)).as("discarded").isEqualTo(again);
  }

  @Test
  @DisplayName("Two rows with one sequence are refused, or have a decision each")
  void twins() {
    begin();
    if (isRefused(twins("a", "hostile"))) {
      return;
    }
    List<String> failed = new ArrayList<>();
    relay(
        1,
        1,
        message -> {
          if (message.key().equals("order/a")) {
            failed.add(message.key());
            return Result.rejected("not this one");
          }
          return Result.delivered();
        });
    assertThat(delivered).extracting(StoredMessage::key).containsExactly("order/hostile");
    assertThat(failed).hasSize(1);
    assertThat(store.deadLetters(0, 10))
        .singleElement()
        .satisfies(letter -> assertThat(letter.message().key()).isEqualTo("order/a"));
  }

  private void tryDamage(Hostile hostile) {
    if (!undamaged) {
      begin();
      append("blocked", "blocked", "a", "b");
      fail("blocked");
    }
    undamaged = false;
    undamaged = isRefused(hostile);
    if (undamaged) {
      return;
    }
    execute("update outbox_blocked_key set retry_at = " + time("2000-01-01 00:00:00"), List.of());
    append("c");
    relay(5);
    assertThat(delivered.stream().map(StoredMessage::key))
        .containsExactlyInAnyOrder("blocked", "blocked", "a", "b", "c");
    assertThat(database.query("select count(*) from outbox_blocked_key")).isEqualTo("0");
  }

  private void begin() {
    database.execute(
        "delete from outbox_message",
        "delete from outbox_blocked_key",
        "delete from outbox_dedup",
        "delete from outbox_bucket");
    store.housekeep(); // puts the buckets back
    delivered.clear();
    storeFailures.clear();
  }

  private void append(String... keys) {
    for (String key : keys) {
      OutboxMessage message = of(key).partitionKey(key).payload(key).build();
      append(message);
    }
  }

  /** Whether the schema refuses it, as it is to. */
  protected final boolean isRefused(Hostile hostile) {
    boolean refused = false;
    try {
      execute(hostile.sql, hostile.texts);
    } catch (IllegalStateException e) {
      assertThat(e.getCause()).isInstanceOf(SQLException.class);
      refused = true;
    }
    assertThat(refused)
        .as("whether the schema refuses %s", shown(hostile.what))
        .isEqualTo(hostile.fate == Fate.REFUSED);
    return refused;
  }

  private void execute(String sql, List<String> texts) {
    database.inTransaction(
        false,
        connection -> {
          try (Statement session = connection.createStatement();
              PreparedStatement statement = connection.prepareStatement(sql)) {
            enter(session);
            try {
              for (int i = 0; i < texts.size(); i++) {
                statement.setString(i + 1, texts.get(i));
              }
              statement.executeUpdate();
            } finally {
              leave(session);
            }
          } catch (SQLException e) {
            throw new IllegalStateException(e);
          }
        });
  }

  /** A relay whose publisher cannot deliver a key; the others stay. */
  private void fail(String key) {
    var claim = store.claim(request());
    var failed = claim.messages().stream().filter(m -> m.key().equals(key)).findFirst();
    claim.settle(
        failed.isEmpty()
            ? Map.of()
            : Collections.singletonMap(
                failed.get().sequence(), Decision.retryUncounted(Duration.ofDays(1), "refused")));
    assertThat(database.query("select count(*) from outbox_blocked_key")).isEqualTo("1");
  }

  private void relay(int expected) {
    relay(expected, 0);
  }

  private void relay(int expected, int dead) {
    relay(expected, dead, message -> Result.delivered());
  }

  /**
   * Runs a relay until it has delivered so many and there are so many dead letters, or it has had
   * its chance.
   */
  private void relay(int expected, int dead, Function<StoredMessage, Result> results) {
    try (Relay relay =
        Relay.builder(store, messages -> publish(messages, results))
            .retryPolicy(RetryPolicy.builder().maxAttempts(1).build())
            .listener(
                event -> {
                  if (event instanceof RelayEvent.StoreFailed failed) {
                    storeFailures.add(failed.operation() + ": " + failed.error());
                  }
                })
            .build()) {
      for (int round = 0;
          round < 2
              || (round < 70
                  && (delivered.size() < expected || store.statistics(10_000).dead() < dead));
          round++) {
        relay.runOnce();
        store.housekeep();
      }
      relay.runOnce();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    assertThat(storeFailures).as("what the store threw").isEmpty();
  }

  private List<Result> publish(
      List<StoredMessage> messages, Function<StoredMessage, Result> results) {
    return messages.stream()
        .map(
            message -> {
              Result result = results.apply(message);
              if (result instanceof Result.Delivered) {
                delivered.add(message);
              }
              return result;
            })
        .toList();
  }
}
