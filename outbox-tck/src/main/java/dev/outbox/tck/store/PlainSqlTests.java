package dev.outbox.tck.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Sentence;
import dev.outbox.tck.store.RawRows.RawRow;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;

/** A6 and C7: rows that this library did not write. */
@DisplayName("Rows by plain SQL")
@Rule("A6")
abstract class PlainSqlTests<T> extends StoreTests<T> {
  private RawRows<T> raw() {
    return tck.fixture(RawRows.class);
  }

  private RawRow inserted(RawRow row) {
    insert(row);
    return row;
  }

  private void insert(RawRow row) {
    tck.inTransaction(t -> raw().insertRaw(t, row));
  }

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
    expect("key of the message", came.key()).isEqualTo(key("k"));
    expect("attempts of the claimed message", came.attempts()).isZero();
    assertThat(Duration.between(came.createdAt(), other.createdAt()).abs())
        .as("time between the createdAt of the row and of a message appended next")
        .isLessThan(Duration.ofMinutes(5));
    assertSame(came.message(), row.message());
  }

  @Sentence(
      "a row shares key and order with appended messages, and waits behind one that is retried")
  void sameKeySameOrder() {
    OutboxMessage first = committed(message("k"));
    RawRow second = inserted(RawRow.of("k"));
    OutboxMessage third = committed(message("k"));
    RawRow fourth = inserted(RawRow.of("another aggregate").withPartitionKey(key("k")));
    assertCame("appended, by plain SQL, appended, by plain SQL with a partition key", drain())
        .inOrder(first, second, third, fourth);
    OutboxMessage head = committed(message("k"));
    retryFirst(claim(), LONG, true);
    RawRow behind = inserted(RawRow.of("k"));
    assertNothingDue("the row's key waits for the retry of message " + head.id());
    RawRow free = inserted(RawRow.of("free"));
    assertCame("claimed while row %s waits behind its key".formatted(behind.id()), drain())
        .inOrder(free);
  }

  @Sentence("a row with a future time comes when it is due, also when a claim met it before")
  void comesWhenDue() {
    Instant now = appended("now");
    insert(RawRow.of("later").withAvailableAt(now.plus(LONG)));
    RawRow past = inserted(RawRow.of("past").withAvailableAt(now.minus(LONG)));
    assertCame("what is due now", drain()).inOrder(past);
    RawRow row = RawRow.of("k").withAvailableAt(appended("now").plus(tck.shortTime()));
    insert(row);
    release(claim());
    assertCame("what came when it was due", awaitDrained(1)).inOrder(row);
  }

  @Rule("C7")
  @Sentence(
      "a row that cannot be decoded is claimed with its key and a problem, listed and requeued")
  void undecodable() {
    insertUndecodable("k");
    Claim claim = claim();
    StoredMessage came = first(claim);
    expect("problem of a row that cannot be decoded", came.problem()).isNotBlank();
    expect("key of a row that cannot be decoded", came.key()).isEqualTo(key("k"));
    settle(claim, Decision.dead("cannot be decoded"));
    assertNothingDue("settled as dead");
    if (!(store() instanceof DeadLetterStore)) {
      return;
    }
    List<DeadLetter> dead = listedDead();
    expect("the dead letters listed", dead).hasSize(1);
    expect("problem of the message", dead.get(0).message().problem()).isNotBlank();
    expect("whether it was requeued", requeue(dead.get(0).message().sequence())).isTrue();
    expect("problem, when it comes again", first(claim()).problem()).isNotBlank();
  }

  @Rule("C7")
  @Sentence("a row that cannot be decoded can be retried, and its key keeps its order")
  void undecodableKeepsOrder() {
    OutboxMessage before = committed(message("k"));
    insertUndecodable("k");
    OutboxMessage after = committed(message("k"));
    Claim claim = claim();
    expect("the oldest comes first", id(first(claim))).isEqualTo(before.id());
    claim.settle(Map.of(first(claim).sequence(), Decision.delivered()));
    claim = claim();
    expect("problem of the second", first(claim).problem()).isNotNull();
    retryFirst(claim, LONG, true);
    assertNothingDue("the key waits for the retry of a row that cannot be decoded");
    OutboxMessage other = committed(message("other"));
    assertCame("message %s waits, other keys go on".formatted(after.id()), drain()).inOrder(other);
  }
}
