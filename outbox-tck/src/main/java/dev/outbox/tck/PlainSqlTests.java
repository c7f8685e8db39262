package dev.outbox.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.RawRows.RawRow;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A6 and C7: rows that this library did not write. */
abstract class PlainSqlTests<T> extends StoreTests<T> {
  private RawRows<T> raw;

  @SuppressWarnings("NullAway.Init") // set before each test
  PlainSqlTests(OutboxStoreTck<T> tck) {
    super(tck);
  }

  @BeforeEach
  void unlock() {
    raw = tck.fixture(RawRows.class);
  }

  private RawRow inserted(RawRow row) {
    run("a plain insert of the required columns", () -> insert(row));
    return row;
  }

  private void insert(RawRow row) {
    tck.inTransaction(t -> raw.insertRaw(t, row));
  }

  private void insertUndecodable(String order) {
    run(
        "a plain insert of a row that cannot be decoded",
        () -> tck.inTransaction(t -> raw.insertUndecodable(t, RawRow.of(order))));
  }

  @Test
  @Rule("A6")
  @Sentence("a row with the required columns only gets the defaults of an appended message")
  void defaults() {
    RawRow row = inserted(RawRow.of("k"));
    OutboxMessage appended = committed(message("l"));
    List<StoredMessage> claimed = drain();
    StoredMessage came =
        claimed.stream()
            .filter(m -> id(m).equals(row.id()))
            .findAny()
            .orElseThrow(() -> new AssertionError("the row by plain SQL is not claimed"));
    StoredMessage other =
        claimed.stream().filter(m -> id(m).equals(appended.id())).findAny().orElseThrow();
    assertThat(came.key()).as("key of the message").isEqualTo(key("k"));
    assertThat(came.attempts()).as("attempts of the claimed message").isZero();
    assertThat(Duration.between(came.createdAt(), other.createdAt()).abs())
        .as("time between the createdAt of the row and of a message appended next")
        .isLessThan(Duration.ofMinutes(5));
    FieldTests.assertSame(
        came.message(),
        OutboxMessage.builder()
            .id(row.id())
            .aggregate(row.aggregateType(), row.aggregateId())
            .eventType(row.eventType())
            .payload(row.payload())
            .build());
  }

  @Test
  @Rule("A6")
  @Sentence("a row shares key and order with appended messages")
  void sameKeySameOrder() {
    OutboxMessage first = committed(message("k"));
    RawRow second = inserted(RawRow.of("k"));
    OutboxMessage third = committed(message("k"));
    RawRow fourth = inserted(RawRow.of("another aggregate").withPartitionKey(key("k")));
    assertCame(ids(drain()))
        .as("appended, by plain SQL, appended, by plain SQL with a partition key")
        .containsExactly(first.id(), second.id(), third.id(), fourth.id());
  }

  @Test
  @Rule("A6")
  @Sentence("a row waits behind the message of its key that waits for a retry")
  void waitsForRetry() {
    OutboxMessage head = committed(message("k"));
    retryFirst(claim(), LONG, true);
    RawRow behind = inserted(RawRow.of("k"));
    assertNothingDue("the row's key waits for the retry of message " + head.id());
    RawRow free = inserted(RawRow.of("free"));
    assertCame(ids(drain()))
        .as("claimed while row %s waits behind its key", behind.id())
        .containsExactly(free.id());
  }

  @Test
  @Rule("A6")
  @Sentence("a row with a future time is held back, one with a past time is not")
  void availableAt() {
    inserted(RawRow.of("later").withAvailableAt(Instant.now().plus(LONG)));
    RawRow past = inserted(RawRow.of("past").withAvailableAt(Instant.now().minus(LONG)));
    assertCame(ids(drain())).as("what is due now").containsExactly(past.id());
  }

  @Test
  @Rule("A6")
  @Sentence("a row with a future time comes when it is due, also when a claim met it before")
  void comesWhenDue() {
    RawRow row = RawRow.of("k").withAvailableAt(Instant.now().plus(tck.shortTime()));
    insert(row);
    release(claim());
    assertCame(ids(awaitDrained(1))).as("what came when it was due").containsExactly(row.id());
  }

  @Test
  @Rule("A1")
  @Sentence("rows that are rolled back are never claimed")
  void rolledBackRows() {
    try {
      tck.inTransaction(
          t -> {
            raw.insertRaw(t, RawRow.of("k"));
            throw new IllegalStateException("rolls back");
          });
    } catch (IllegalStateException e) {
      assertNothingDue("inserted by plain SQL and rolled back");
    }
  }

  @Test
  @Rule("C7")
  @Sentence("a row that cannot be decoded is claimed with its key and a problem")
  void undecodable() {
    insertUndecodable("k");
    Claim claim = claim();
    StoredMessage came = first(claim);
    assertThat(came.problem()).as("problem of a row that cannot be decoded").isNotBlank();
    assertThat(came.key()).as("key of a row that cannot be decoded").isEqualTo(key("k"));
    settle(claim, Decision.dead("cannot be decoded"));
    assertNothingDue("settled as dead");
  }

  @Test
  @Rule("C7")
  @Sentence("a row that cannot be decoded can be retried, and its key keeps its order")
  void undecodableKeepsOrder() {
    OutboxMessage before = committed(message("k"));
    insertUndecodable("k");
    OutboxMessage after = committed(message("k"));
    Claim claim = claimOf("k");
    assertThat(id(first(claim))).as("the oldest comes first").isEqualTo(before.id());
    settle(claim, Map.of(first(claim).sequence(), Decision.delivered()));
    claim = claim();
    assertThat(first(claim).problem()).as("problem of the second").isNotNull();
    retryFirst(claim, LONG, true);
    assertNothingDue("the key waits for the retry of a row that cannot be decoded");
    OutboxMessage other = committed(message("other"));
    assertCame(ids(drain()))
        .as("message %s waits, other keys go on", after.id())
        .containsExactly(other.id());
  }

  @Test
  @Rule("C7")
  @Sentence("a row that cannot be decoded does not keep the messages of other keys from coming")
  void undecodableAmongOthers() {
    OutboxMessage first = committed(message("a"));
    insertUndecodable("k");
    OutboxMessage last = committed(message("z"));
    List<StoredMessage> claimed = drain();
    assertThat(claimed.stream().filter(m -> m.problem() == null).map(StoreTests::id))
        .as("decodable messages that came")
        .containsExactlyInAnyOrder(first.id(), last.id());
  }

  @Test
  @Rule("C7")
  @Sentence("a row that cannot be decoded is listed among the dead letters, and can be requeued")
  void undecodableDeadLetter() {
    DeadLetterStore letters = tck.ability(DeadLetterStore.class);
    insertUndecodable("k");
    settle(claim(), Decision.dead("cannot be decoded"));
    List<DeadLetterStore.DeadLetter> dead = call("list", () -> letters.deadLetters(0, 10));
    assertThat(dead).as("the dead letters listed").hasSize(1);
    assertThat(dead.get(0).message().problem()).as("problem of the message").isNotBlank();
    assertThat(letters.requeue(dead.get(0).message().sequence()))
        .as("whether it was requeued")
        .isTrue();
    assertThat(first(claim()).problem()).as("problem, when it comes again").isNotBlank();
  }
}
