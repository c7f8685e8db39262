package dev.outbox.store.sqlserver;

import static dev.outbox.store.sqlserver.Recorder.row;
import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.ArchiveStore.Archived;
import dev.outbox.spi.store.ArchiveStore.Search;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.InspectionStore.Listed;
import dev.outbox.spi.store.InspectionStore.Query;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.InspectionStore.WaitingKey;
import dev.outbox.spi.store.PauseStore.Pause;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.jdbc.JdbcOutboxStore.PlainBuilder;
import dev.outbox.store.sqlserver.Recorder.Execution;
import dev.outbox.store.sqlserver.Recorder.Parameter;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every method of the store against a driver that records, so that no statement goes untried. */
@DisplayName("What is bound")
class BindingsTest {
  private static final String ID = UUID.randomUUID().toString().toUpperCase(Locale.ROOT);
  private static final LocalDateTime TIME = LocalDateTime.parse("2026-11-20T12:00:00.123456");
  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final List<Map<String, Object>> VERSION =
      List.of(row("version no_count page_locks", 1, 0, null));

  /** The statements as the driver gets them, and their names. */
  private final Map<String, String> names =
      Texts.statements().entrySet().stream()
          .collect(
              Collectors.toMap(
                  e -> e.getValue().replaceAll("(?<![:\\w]):[a-zA-Z]+", "?"),
                  Map.Entry::getKey,
                  (a, b) -> a));

  private final Map<String, List<Map<String, Object>>> answers = new HashMap<>();
  private final Map<String, Integer> counts = new HashMap<>();
  private final Recorder driver =
      new Recorder(
          sql -> sql.contains("archive_schema") ? VERSION : answer(names.get(sql)),
          sql -> counts.getOrDefault(names.get(sql), 1));
  private SqlServerOutboxStore store = builder(driver).build();

  private static PlainBuilder<SqlServerOutboxStore> builder(Recorder driver) {
    return SqlServerOutboxStore.builder(driver.dataSource()).schema("shop");
  }

  private List<Map<String, Object>> answer(String name) {
    if ("EXPIRED".equals(name) && executions("DISCARD").size() > 1) {
      return List.of(); // it is gone then
    }
    List<Map<String, Object>> answer = answers.getOrDefault(name, List.of());
    if (name != null && name.startsWith("SIZES")) {
      // From now on it comes with its payload.
      answers.put(name.replace("SIZES", "READ"), List.of(pending(11, "a")));
    }
    return answer;
  }

  /** From now on a query of this name gives a row. */
  private void gives(String name, String columns, Object... values) {
    answers.put(name, List.of(row(columns, values)));
  }

  private static Map<String, Object> message(
      long seq, String key, String columns, Object... values) {
    Map<String, Object> row =
        row("bucket seq payload attempts created_at", 3, seq, new byte[] {1}, 0, TIME);
    row.putAll(
        row(
            "id aggregate_type aggregate_id event_type partition_key",
            ID,
            "order",
            key,
            "Placed",
            null));
    row.putAll(
        row("content_type headers dedup_key correlation_id", "text/plain", "[]", null, null));
    row.putAll(row("available_at max_attempts expires_at expired", null, null, null, 0));
    row.putAll(row(columns, values));
    return row;
  }

  private static Map<String, Object> pending(long seq, String key) {
    return message(seq, key, "target horizon", null, 0L);
  }

  private static Map<String, Object> toMove(long seq, String target) {
    Map<String, Object> row = message(seq, "moves", "target horizon", target, 0L);
    row.put("payload", null);
    return row;
  }

  private void answerClaims() {
    gives("PLACE", "place", "schema shop of database app");
    answers.put("SCHEMA_VERSION", VERSION);
    answers.put("BUCKETS", List.of(bucket(3, 1, 1)));
    leased(0, 1, 1);
    gives("LOCKED", "bucket left_millis txid history scheduled blocked", 3, 5L, 0L, "", 1, 1);
    answers.put(
        "FIRST_PENDING", Stream.of(11L, 12L, 13L, 14L, 15L).map(seq -> row("seq", seq)).toList());
    answers.put(
        "READ_PENDING",
        List.of(
            pending(11, "a"),
            pending(12, "b"),
            pending(13, "c"),
            toMove(14, "BLOCKED"),
            toMove(15, "SCHEDULED")));
    answers.put("READ_SCHEDULED", List.of(pending(21, "d")));
    answers.put("READ_BLOCKED", List.of(blocked(31, "blocked", 1), emptyKey()));
  }

  private static Map<String, Object> bucket(int bucket, int scheduled, int blocked) {
    return row(
        "bucket leased_by free pending scheduled blocked", bucket, null, 1, 1, scheduled, blocked);
  }

  private static Map<String, Object> emptyKey() {
    Map<String, Object> row = blocked(0, "gone", 2);
    row.put("seq", null);
    return row;
  }

  private static Map<String, Object> blocked(long seq, String key, long turn) {
    return message(seq, key, "due_bucket due_key due_low_seq turn", 3, key, 30L, turn);
  }

  private Claim claim() {
    Claim claim = store.claim(request());
    assertThat(claim.messages().stream().map(StoredMessage::sequence))
        .containsExactly(11L, 12L, 13L, 21L, 31L);
    return claim;
  }

  private static Claim.Request request() {
    return new Claim.Request("worker", 100, 1_000_000, LEASE);
  }

  private static Map<Long, Decision> decisions() {
    Map<Long, Decision> decisions = new LinkedHashMap<>();
    decisions.put(11L, Decision.delivered());
    decisions.put(12L, Decision.retry(Duration.ofDays(30), "later"));
    decisions.put(13L, Decision.deadHaltingKey("never"));
    decisions.put(21L, Decision.delivered());
    decisions.put(31L, Decision.delivered());
    return decisions;
  }

  private List<Execution> executions(String name) {
    return driver.executions.stream().filter(e -> name.equals(names.get(e.sql()))).toList();
  }

  private Parameter parameter(Execution execution, String name) {
    List<String> places = new ArrayList<>();
    Matcher m =
        Pattern.compile("(?<![:\\w]):([a-zA-Z]+)")
            .matcher(Texts.statements().get(names.get(execution.sql())));
    while (m.find()) {
      places.add(m.group(1));
    }
    return execution.parameters().get(places.indexOf(name) + 1);
  }

  @Test
  @DisplayName(
      "is every parameter of every statement, and texts are nvarchar whatever the URL says")
  void everything() throws SQLException {
    answerClaims();
    counts.put("BLOCK", 0);
    claim().settle(decisions());
    Claim again = claim();
    assertThat(again.renew(LEASE)).isNotEmpty();
    Settled settled = store.settleAndClaim(again, decisions(), request());
    assertThat(settled.lost()).isEmpty();
    settled.next().settle(Map.of());
    singly();
    assertThat(store.place()).isEqualTo("schema shop of database app");
    large();
    operators();
    appends();
    assertBound();
    assertThat(executed())
        .as("statements that were executed")
        .containsAll(Texts.outboxStatements().keySet());
    assertThat(driver.executions)
        .flatExtracting(e -> e.parameters().values())
        .filteredOn(parameter -> parameter.value() instanceof String)
        .isNotEmpty()
        .allMatch(parameter -> parameter.type().startsWith("nvarchar"));
  }

  private Set<String> executed() {
    return driver.executions.stream()
        .map(e -> names.getOrDefault(e.sql(), ""))
        .collect(Collectors.toSet());
  }

  private void assertBound() {
    for (Execution execution : driver.executions) {
      String name = names.get(execution.sql());
      if (name != null) {
        long places = execution.sql().chars().filter(c -> c == '?').count();
        assertThat(execution.parameters().keySet())
            .as("parameters of %s", name)
            .containsExactlyElementsOf(IntStream.rangeClosed(1, (int) places).boxed().toList());
      }
    }
  }

  private void leased(int singles, int scheduled, int blocked) {
    gives(
        "LEASED",
        "bucket token served_at singles scheduled blocked",
        3,
        8L,
        TIME,
        singles,
        scheduled,
        blocked);
  }

  /** A bucket whose messages are handed out one at a time: attempts are counted beforehand. */
  private void singly() {
    leased(1, 0, 0);
    Claim claim = store.claim(request());
    assertThat(claim.messages()).hasSize(1);
    claim.settle(Map.of());
  }

  /** A payload that a read left out. */
  private void large() {
    answerClaims();
    Map<String, Object> leftOut = pending(11, "a");
    leftOut.put("payload", null);
    answers.put("READ_PENDING", List.of(leftOut));
    answers.put("READ_SCHEDULED", List.of(leftOut));
    gives("SIZES_PENDING", "bucket size", 3, 999_999L);
    gives("SIZES_SCHEDULED", "bucket size", 3, 999_999L);
    store.claim(request()).settle(Map.of());
  }

  private void look() {
    Map<String, Object> listed =
        message(5, "k", "status last_error last_failed_at halts_key", "DEAD", "no", TIME, 1);
    List.of("LIST", "LIST_DEAD", "LIST_OF_KEY", "SHOW")
        .forEach(name -> answers.put(name, List.of(listed)));
    for (Query query :
        List.of(
            Query.first(10),
            Query.first(Status.DEAD, 10),
            new Query(Status.BLOCKED, null, "order/k", null, null, null, null, null, null, 10))) {
      assertThat(store.messages(query).found())
          .singleElement()
          .satisfies(message -> assertThat(message.sequence()).isEqualTo(5))
          .matches(Listed::haltsKey);
    }
    Map<String, Object> key =
        row(
            "bucket key retry_at halted_by head attempts last_error waiting",
            3,
            "order/k",
            TIME,
            5L,
            null,
            1,
            "no",
            2);
    for (String name : List.of("KEYS_ALL", "KEYS_HALTED", "KEYS_ONE")) {
      answers.put(name, List.of(key));
    }
    WaitingKey halted = new WaitingKey("order/k", 5, true, null, 2, 1, "no");
    assertThat(store.waitingKeys(false, null, 10).found()).containsExactly(halted);
    assertThat(store.waitingKeys(true, null, 10).found()).containsExactly(halted);
    assertThat(store.message(5)).get().matches(shown -> shown.behind() == null);
    for (Status status : List.of(Status.DEAD, Status.BLOCKED)) {
      Query filtered =
          new Query(
              status,
              "order",
              "order/k",
              "Placed",
              UUID.fromString(ID),
              "d",
              "no",
              Instant.MAX,
              null,
              10);
      assertThat(store.messages(filtered).found()).isEmpty();
    }
  }

  private void operators() {
    assertThat(store.leases().orElseThrow()).isEmpty();
    answers.put(
        "DEAD_LETTERS",
        List.of(message(5, "k", "last_error last_failed_at halts_key", "no", TIME, 1)));
    assertThat(store.deadLetters(0, 10)).singleElement().matches(DeadLetter::haltsKey);
    look();
    gives("LOCK_DEAD_LETTERS", "bucket key seq", 3, "k", 5L);
    assertThat(store.requeue(5)).isTrue();
    assertThat(store.discard(5)).isTrue();
    gives(
        "STATISTICS",
        "pending scheduled blocked dead blocked_keys halted_keys free_millis blocked_millis",
        1L,
        0L,
        0L,
        0L,
        0L,
        0L,
        1_500L,
        null);
    Statistics statistics = store.statistics(10_000);
    assertThat(statistics.pending()).isEqualTo(1);
    assertThat(statistics.oldestFree()).isEqualTo(Duration.ofMillis(1_500));
    assertThat(statistics.oldestBlocked()).isNull();
    gives("LEASES", "worker buckets leased_at lease_until", "r", 2, TIME, TIME);
    assertThat(store.leases().orElseThrow()).hasSize(1);
    store.pause("order", new Who("ann", "stock taking"));
    gives("PAUSES", "aggregate_type paused_at who reason", "", TIME, "ann", null);
    assertThat(store.pauses())
        .containsExactly(new Pause(null, TIME.toInstant(ZoneOffset.UTC), "ann", null));
    driver.timeouts.forEach(
        (sql, seconds) ->
            assertThat(seconds).as(sql).isEqualTo(sql.contains(".paused_at") ? 2 : 30));
    assertThat(store.resume("order", Who.named("bob"))).isTrue();
    gives("HALTED_BY_NOTHING", "bucket key halted_by", 3, "k", 5L);
    SqlServerOutboxStore forgetting =
        builder(driver).deadLetterRetention(Duration.ofDays(90)).build();
    answers.put("EXPIRED", List.of(row("seq expired", 5L, 1), row("seq expired", 6L, 0)));
    int discards = executions("DISCARD").size();
    forgetting.housekeep();
    assertThat(executions("DISCARD")).as("dead letters that expired").hasSize(discards + 1);
    gives("UNDUE", "bucket key seq", 3, "k", 5L);
    assertThat(store.cancel(Set.of(5L), null)).containsExactly(5L);
  }

  private void appends() throws SQLException {
    Connection connection = driver.connection();
    counts.put("INSERT_DEDUP", 0);
    counts.put("RENEW_DEDUP", 0);
    OutboxMessage plain = builder().build();
    OutboxMessage duplicate = builder().dedupKey("d").deliverAfter(Duration.ofDays(3650)).build();
    assertThat(store.append(connection, List.of(plain, duplicate)).duplicates())
        .containsExactly(duplicate.id());
  }

  private static OutboxMessage.Builder builder() {
    return OutboxMessage.builder().aggregate("order", "k").eventType("Placed").payload("{}");
  }

  @Test
  @DisplayName("has a type that its length does not change, or a batch would be prepared anew")
  void types() throws SQLException {
    everything();
    answerMany(100);
    Claim claim = store.claim(request());
    claim.settle(all(claim, Decision.delivered()));
    store.append(
        driver.connection(),
        List.of(
            builder().payload(new byte[8_001]).header("h", "x".repeat(8_000)).build(),
            builder().payload(new byte[0]).build()));
    Map<String, Set<String>> types = new TreeMap<>();
    for (Execution execution : driver.executions) {
      if (names.containsKey(execution.sql())) {
        execution
            .parameters()
            .forEach(
                (place, parameter) ->
                    types
                        .computeIfAbsent(
                            names.get(execution.sql()) + " " + place, at -> new TreeSet<>())
                        .add(parameter.type()));
      }
    }
    assertThat(types).isNotEmpty().allSatisfy((at, each) -> assertThat(each).as(at).hasSize(1));
  }

  private void answerMany(int messages) {
    answerClaims();
    leased(0, 0, 0);
    List<Long> sequences = LongStream.range(100, 100 + messages).boxed().toList();
    answers.put("FIRST_PENDING", sequences.stream().map(seq -> row("seq", seq)).toList());
    answers.put("READ_PENDING", sequences.stream().map(seq -> pending(seq, "k" + seq)).toList());
  }

  @Test
  @DisplayName("says where in the table a message is: its bucket, status and place")
  void places() {
    answerClaims();
    claim().settle(decisions());
    List<Execution> deletes = executions("DELETE");
    assertThat(deletes.stream().map(e -> parameter(e, "was").value()))
        .containsExactly("PENDING", "SCHEDULED", "BLOCKED");
    assertThat(deletes.stream().map(e -> parameter(e, "messages").value()))
        .containsExactly(
            "[[3,11,\"" + ID + "\"]]", "[[3,21,\"" + ID + "\"]]", "[[3,31,\"" + ID + "\"]]");
    assertThat(deletes.stream().map(e -> parameter(e, "place").value()))
        .containsExactly(new byte[] {0}, new byte[] {0}, SqlServerText.keyHash("order/blocked"));
    assertThat(executions("MOVE_TO_BLOCKED").stream().map(e -> parameter(e, "messages").value()))
        .containsExactly("[[3,14,\"" + ID + "\"]]");
    assertThat(executions("MOVE_TO_SCHEDULED").stream().map(e -> parameter(e, "messages").value()))
        .containsExactly("[[3,15,\"" + ID + "\"]]");
  }

  @Test
  @DisplayName("of a message that expired makes it a dead letter, copies it and removes it")
  void expired() {
    store = builder(driver).archive(Archive.FULL).build();
    answerClaims();
    claim().settle(Map.of(11L, Decision.expired()));
    List<Execution> copies = executions("ARCHIVE DEAD_LETTER");
    assertThat(copies).hasSize(1);
    assertThat(parameter(copies.get(0), "outcome").value()).isEqualTo("EXPIRED");
    assertThat(executions("FAIL").stream().map(e -> parameter(e, "status").value()))
        .containsExactly("DEAD");
    assertThat(executions("DISCARD").stream().map(e -> parameter(e, "seq").value()))
        .containsExactly(11L);
  }

  @Test
  @DisplayName("with an archive is what is deleted, with the answer, before; and who decided")
  void archive() {
    store = builder(driver).archive(Archive.FULL).build();
    answerClaims();
    Map<Long, Decision> decisions = decisions();
    decisions.put(11L, Decision.delivered(() -> "orders-3@1742"));
    claim().settle(decisions);
    List<Execution> copies = executions("ARCHIVE COPY");
    List<Execution> deletes = executions("DELETE");
    assertThat(copies.stream().map(e -> parameter(e, "messages").value()))
        .containsExactly(
            "[[3,11,\"" + ID + "\",0,\"orders-3@1742\"]]",
            "[[3,21,\"" + ID + "\",0,\"\"]]",
            "[[3,31,\"" + ID + "\",0,\"\"]]");
    for (String name : List.of("was", "place")) {
      assertThat(copies.stream().map(e -> parameter(e, name).value()))
          .containsExactlyElementsOf(
              deletes.stream().map(e -> parameter(e, name).value()).toList());
    }
    assertThat(driver.executions.indexOf(copies.get(2)))
        .as("the last copy, and the first delete")
        .isLessThan(driver.executions.indexOf(deletes.get(0)));
    decides();
    looks();
    store.housekeep();
    assertBound();
    assertThat(executed())
        .as("statements that were executed")
        .containsAll(Texts.archiveStatements().keySet().stream().map("ARCHIVE "::concat).toList());
  }

  @Test
  @DisplayName("a settle that would delete what was not copied into the archive is undone")
  void copiesLess() {
    store = builder(driver).archive(Archive.FULL).build();
    answerClaims();
    counts.put("ARCHIVE COPY", 0);
    Claim claim = claim();
    assertThatThrownBy(() -> claim.settle(decisions()))
        .isInstanceOf(TransientOutboxException.class)
        .hasMessageContaining("0 messages were copied into the archive, and 3 were to be deleted");
  }

  private void decides() {
    Who alice = new Who("alice", "by hand");
    gives("LOCK_DEAD_LETTERS", "bucket key seq", 3, "k", 5L);
    assertThat(store.requeue(Set.of(5L), alice)).isNotEmpty();
    assertThat(store.discard(Set.of(5L), alice)).isNotEmpty();
    gives("UNDUE", "bucket key seq", 3, "k", 5L);
    assertThat(store.cancel(Set.of(5L), alice)).containsExactly(5L);
    assertThat(
            executions("ARCHIVE NOTE_DEAD_LETTER").stream()
                .map(e -> parameter(e, "action").value()))
        .containsExactly("REQUEUED", "DISCARDED", "DISCARDED");
    assertThat(parameter(executions("ARCHIVE DEAD_LETTER").get(0), "outcome").value())
        .isEqualTo("DISCARDED");
  }

  private void looks() {
    Map<String, Object> left =
        message(
            11,
            "k",
            "whole archived_at outcome answer last_error",
            1,
            TIME,
            "DELIVERED",
            "orders-3@1742",
            null);
    answers.put("ARCHIVE FIND", List.of(left));
    Search all = Search.between(Instant.EPOCH, Instant.parse("2100-01-01T00:00:00Z"));
    List<Archived> archived = store.archived(all, 10);
    assertThat(archived).singleElement().extracting(Archived::answer).isEqualTo("orders-3@1742");
    assertThat(store.archived(all.key("k").after(archived.get(0).position()), 10)).isEmpty();
    assertThat(store.replay(archived, Who.named("alice")).allStored()).isTrue();
    assertThat(store.audit(Instant.EPOCH, 10)).isEmpty();
  }

  @Test
  @DisplayName("of PENDING messages is read twice, and what came between does not overtake")
  void readsTwice() {
    answerClaims();
    answers.put("FIRST_PENDING", Stream.of(11L, 13L).map(seq -> row("seq", seq)).toList());
    answers.put(
        "READ_PENDING",
        List.of(
            pending(11, "a"),
            pending(12, "b"),
            pending(13, "b"),
            pending(14, "b"),
            pending(15, "c")));
    assertThat(store.claim(request()).messages().stream().map(StoredMessage::sequence))
        .as("12 is late, and stands before 13; 14 and 15 may have one before them")
        .containsExactly(11L, 12L, 13L, 21L, 31L);
    List<Execution> reads =
        driver.executions.stream()
            .filter(
                e ->
                    Set.of("FIRST_PENDING", "READ_PENDING")
                        .contains(names.getOrDefault(e.sql(), "")))
            .toList();
    assertThat(reads.stream().map(e -> names.get(e.sql())))
        .containsExactly("FIRST_PENDING", "READ_PENDING");
    assertThat(reads.stream().map(e -> parameter(e, "buckets").value())).containsOnly("[[3,50]]");
  }

  @ParameterizedTest
  @CsvSource({"0, 0, 11", "1, 0, 22", "0, 1, 32"})
  @DisplayName("of messages has their order, in whatever order the server gives them")
  void order(int scheduled, int blocked, long first) {
    answerClaims();
    leased(0, scheduled, blocked);
    boolean pending = scheduled + blocked == 0;
    answers.put("FIRST_PENDING", pending ? List.of(row("seq", 11L), row("seq", 12L)) : List.of());
    answers.put("READ_PENDING", List.of(pending(12, "a"), pending(11, "a")));
    answers.put("READ_SCHEDULED", List.of(due(21, TIME), due(22, TIME.minusNanos(1_000))));
    answers.put("READ_BLOCKED", List.of(blocked(31, "a", 2), blocked(32, "b", 1)));
    Claim.Request one = new Claim.Request("worker", 100, 1, LEASE);
    assertThat(store.claim(one).messages().stream().map(StoredMessage::sequence))
        .containsExactly(first);
  }

  private static Map<String, Object> due(long seq, LocalDateTime availableAt) {
    Map<String, Object> row = pending(seq, "s" + seq);
    row.put("available_at", availableAt);
    return row;
  }

  @Test
  @DisplayName("where somebody else leased what was chosen is what comes next, one by one")
  void leasesTheNext() {
    answerClaims();
    answers.put("BUCKETS", List.of(4, 5, 6).stream().map(bucket -> bucket(bucket, 0, 0)).toList());
    counts.put("LEASE", 0);
    assertThat(store.claim(new Claim.Request("worker", 2, 1_000, LEASE)).messages()).isEmpty();
    assertThat(executions("LEASE").stream().map(e -> parameter(e, "bucket").value()))
        .startsWith(4, 5, 6);
  }

  @Test
  @DisplayName("for a time is its text to the microsecond, in UTC")
  void times() throws SQLException {
    answerClaims();
    store.append(
        driver.connection(),
        List.of(
            builder().availableAt(Instant.parse("2024-02-29T23:59:00Z")).build(),
            builder().deliverAfter(Duration.ofMillis(61_001)).build(),
            builder().expireAfter(Duration.ofMillis(61_001)).build(),
            builder().expiresAt(Instant.parse("2024-02-29T23:59:00Z")).build()));
    List<Execution> inserts = executions("INSERT");
    assertThat(inserts.get(0).parameters().get(12).value()).isEqualTo("2024-02-29T23:59:00.000000");
    assertThat(inserts.get(0).parameters().get(13).setter()).isEqualTo("setNull");
    assertThat(inserts.get(1).parameters().get(13).value()).isEqualTo(1_000);
    assertThat(inserts.get(1).parameters().get(14).value()).isEqualTo(61);
    assertThat(inserts.get(2).parameters().get(16).value()).isEqualTo(1_000);
    assertThat(inserts.get(2).parameters().get(17).value()).isEqualTo(61);
    assertThat(inserts.get(3).parameters().get(15).value()).isEqualTo("2024-02-29T23:59:00.000000");
  }

  @Test
  @DisplayName("for a retention of centuries is no more seconds than an int has room for")
  void centuries() {
    Duration centuries = Duration.ofDays(100_000);
    answerClaims();
    builder(driver)
        .dedupWindow(centuries)
        .archive(Archive.FULL)
        .archiveRetention(centuries)
        .deadLetterRetention(centuries)
        .build()
        .housekeep();
    for (String name : List.of("PURGE_DEDUP", "ARCHIVE PURGE", "EXPIRED")) {
      assertThat(executions(name))
          .as(name)
          .isNotEmpty()
          .extracting(e -> (Long) parameter(e, "millis").value() / 1_000)
          .allMatch(seconds -> Math.abs(seconds) < Integer.MAX_VALUE);
    }
  }

  @Test
  @DisplayName("a dedup key is once for two messages of an append, and the first takes it")
  void dedupKeys() throws SQLException {
    answerClaims();
    OutboxMessage first = builder().dedupKey("b").build();
    OutboxMessage second = builder().dedupKey("b").build();
    OutboxMessage other = builder().dedupKey("a").build();
    assertThat(store.append(driver.connection(), List.of(first, second, other)).duplicates())
        .containsExactly(second.id());
    assertThat(executions("INSERT_DEDUP").stream().map(e -> e.parameters().get(1).value()))
        .as("in the order of the keys")
        .containsExactly("a", "b");
    assertThat(executions("RENEW_DEDUP")).isEmpty();
    assertThat(executions("INSERT")).hasSize(2);
  }

  @Test
  @DisplayName("to filter by is compared with its trailing spaces")
  void filters() {
    answerClaims();
    store = builder(driver).archive(Archive.FULL).build();
    Query some =
        new Query(Status.DEAD, "order", "order/k", "Placed", null, "d", null, null, null, 10);
    assertThat(store.messages(some).found()).isEmpty();
    Search all = Search.between(Instant.EPOCH, Instant.parse("2100-01-01T00:00:00Z"));
    Search more = all.key("k").aggregateType("order").aggregateId("k").eventType("Placed");
    assertThat(store.archived(more, 10)).isEmpty();
    for (String column : List.of("m.aggregate_type", "m.event_type", "aggregate_id)")) {
      assertThat(driver.executions)
          .filteredOn(e -> e.sql().contains(column + " + N'.' = ? + N'.'"))
          .as(column)
          .hasSize(2);
    }
    for (String column : List.of("m.aggregate_id", "m.dedup_key")) {
      assertThat(driver.executions)
          .filteredOn(e -> e.sql().contains(column + " + N'.' = ? + N'.'"))
          .as(column)
          .hasSize(1);
    }
  }

  @Test
  @DisplayName("to the session is READ COMMITTED, and afterwards what it had")
  void isolation() {
    answerClaims();
    driver.isolation = Connection.TRANSACTION_SERIALIZABLE;
    store.verify();
    assertThat(driver.executions.stream().map(Execution::sql))
        .startsWith("set deadlock_priority low; set transaction isolation level read committed")
        .containsSubsequence(
            "setTransactionIsolation " + Connection.TRANSACTION_SERIALIZABLE,
            "set deadlock_priority normal");
  }

  @Test
  @DisplayName("to the session makes us the victim of deadlocks, and never the application")
  void deadlocks() throws SQLException {
    answerClaims();
    counts.put("LEASE", null); // of which the driver fails
    assertThatThrownBy(() -> store.claim(request())).isInstanceOf(NullPointerException.class);
    assertThat(driver.executions.stream().map(Execution::sql))
        .startsWith("set deadlock_priority low")
        .endsWith("set deadlock_priority normal");
    driver.executions.clear();
    store.append(driver.connection(), builder().dedupKey("d").build());
    assertThat(executions("INSERT")).hasSize(1);
    assertThat(driver.executions).noneMatch(execution -> execution.sql().startsWith("set "));
  }
}
