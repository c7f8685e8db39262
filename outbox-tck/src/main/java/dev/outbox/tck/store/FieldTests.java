package dev.outbox.tck.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.outbox.InvalidMessageException;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Sentence;
import dev.outbox.tck.store.RawRows.RawRow;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A3, A5, A6 and C7: what is stored, by append and by plain SQL. What is over a limit in Java is no
 * message; a builder refuses it.
 */
@Rule("A3")
abstract class FieldTests<T> extends StoreTests<T> {
  private static final String EMOJI = "\uD83D\uDE00";

  @Rule({"A3", "A5"})
  @Sentence("every text comes back exactly, whatever it holds, up to the longest")
  void texts() {
    for (String text : NASTY) {
      OutboxMessage.Builder builder =
          message(text)
              .aggregateType(text)
              .eventType(text)
              .partitionKey(text)
              .contentType(text)
              .dedupKey(text)
              .correlationId(text)
              .payload(text)
              .header(text, text);
      assertComesBack(builder.build());
      assertComesBack(message(text).build());
    }
  }

  @Sentence("the most attempts of a message come back, also those of one among many")
  void mostAttempts() {
    assertComesBack(message("k").maxAttempts(1).build());
    assertComesBack(message("k").maxAttempts(Integer.MAX_VALUE).build());
    commit(List.of(message("a").build(), message("b").maxAttempts(3).build()));
    assertThat(drain())
        .as("the most attempts of two messages of one append, of which the second has three")
        .extracting(stored -> stored.message().maxAttempts())
        .containsExactlyInAnyOrder(null, 3);
  }

  @Sentence("headers come back in their order, repeated names, empty and nasty values too")
  void headers() {
    OutboxMessage.Builder builder = message("k");
    builder.header("z", "1").header("a", "2").header("z", "3").header("Z", "4").header("a", "2");
    builder.header("empty", "").header("blank", " ").header("json", "[[\"a\",{\"b\":null}]]");
    NASTY.forEach(text -> builder.header("nasty", text));
    assertComesBack(builder.build());
  }

  @Rule({"A3", "A5"})
  @Sentence("the payload comes back byte by byte: empty, every byte, the largest")
  void payloads() {
    byte[] everyByte = new byte[256];
    for (int i = 0; i < everyByte.length; i++) {
      everyByte[i] = (byte) i;
    }
    byte[] largest = new byte[OutboxMessage.MAX_PAYLOAD];
    new Random(1).nextBytes(largest);
    for (byte[] payload :
        List.of(
            new byte[0],
            everyByte,
            new byte[] {0, 0, 0},
            "text with \uD83D\uDE00 and \0".getBytes(StandardCharsets.UTF_8),
            new byte[] {(byte) 0xC3, (byte) 0x28},
            "{ \"b\" : 1.0, \"a\" : 1e2, \"a\" : null }".getBytes(StandardCharsets.UTF_8),
            largest)) {
      assertComesBack(message("k").payload(payload).build());
    }
  }

  @Sentence("times come back to the microsecond")
  void microseconds() {
    for (String time :
        List.of(
            "2024-02-29T23:59:59.999999Z",
            "2020-03-29T01:30:00.000001Z",
            "1970-01-01T00:00:00Z",
            "2001-09-09T01:46:40.123456Z")) {
      assertComesBack(message("k").availableAt(Instant.parse(time)).build());
    }
  }

  @Sentence("a delay comes back as the time until which the message was held back")
  void delay() {
    OutboxMessage sent = committed(message("k").deliverAfter(Duration.ofMillis(1)));
    StoredMessage stored = awaitDrained(1).get(0);
    OutboxMessage came = stored.message();
    expect("deliverAfter of a message handed out", came.deliverAfter()).isNull();
    assertThat(came.availableAt())
        .as("availableAt of a message that was appended with deliverAfter")
        .isNotNull()
        .isAfter(stored.createdAt().minusSeconds(1))
        .isBefore(stored.createdAt().plusSeconds(60));
    expect("id", came.id()).isEqualTo(sent.id());
    expect("payload", came.payload()).isEqualTo(sent.payload());
  }

  @Sentence("keys that differ in case, spaces or normal form are different keys")
  void differentKeys() {
    List<List<String>> pairs =
        List.of(
            List.of("case", "CASE"),
            List.of("trailing", "trailing "),
            List.of("leading", " leading"),
            List.of("caf\u00E9", "cafe\u0301"),
            List.of("stra\u00DFe", "strasse"),
            List.of("\u212B", "\u00C5"),
            List.of("zero", "zero\u200B"),
            List.of("tab", "tab\t"));
    List<String> confused = new ArrayList<>();
    for (List<String> pair : pairs) {
      tck.prepare();
      committed(pair.get(0), 1);
      retryFirst(claim(), LONG, true);
      OutboxMessage other = committed(message(pair.get(1)));
      if (!ids(drain()).equals(idsOf(other))) {
        confused.add("%s and %s".formatted(shown(pair.get(0)), shown(pair.get(1))));
      }
    }
    check(
        confused.isEmpty(),
        "while the first waits for its retry, a key that only looks like it waits too: the store takes %s for one key",
        String.join(", ", confused));
  }

  @Sentence("order 42 and invoice 42 are different keys")
  void typesHaveKeysOfTheirOwn() {
    committed("42", 1);
    retryFirst(claim(), LONG, true);
    OutboxMessage other = committed(message("42").aggregateType("invoice"));
    OutboxMessage behind = committed(message("another").partitionKey(key("42")));
    assertCame(
            "claimed while order 42 waits for its retry: invoice 42, and not message %s, whose partition key is %s"
                .formatted(behind.id(), key("42")),
            drain())
        .inOrder(other);
  }

  // ---- limits

  @Rule("A5")
  @Sentence("the most headers, the most bytes of headers and the longest delay are stored")
  void largest() {
    OutboxMessage.Builder many = message("k");
    for (int i = 0; i < OutboxMessage.MAX_HEADER_COUNT; i++) {
      many.header("h" + (i / 10) + (i % 10), "v" + i);
    }
    assertComesBack(many.build());
    String rest = "\"".repeat(OutboxMessage.MAX_HEADERS - 4 - 5);
    assertComesBack(message("k").header("aaaa", rest).header("bbbbb", "").build());
    commit(List.of(message("k").deliverAfter(OutboxMessage.MAX_DELAY).build()));
    assertNothingDue("a message with the longest delay");
  }

  @Rule("A5")
  @Sentence("a row by plain SQL that is over a limit is refused by the schema")
  void rawRows() {
    String tooLong = EMOJI.repeat(OutboxMessage.MAX_TEXT + 1);
    byte[] payload = new byte[0];
    RawRow good = row("t", "k", "e", payload, null);
    requires(
        "A6",
        () -> {
          insert(good);
          assertCame("due after a row by plain SQL", drain()).hasSize(1);
        });
    for (RawRow bad :
        List.of(
            row(tooLong, "k", "e", payload, null),
            row("t", tooLong, "e", payload, null),
            row("t", "k", tooLong, payload, null),
            row("t", "k", "e", payload, tooLong),
            row("t", "x".repeat(100_000), "e", payload, null),
            row("t", "k", "e", new byte[OutboxMessage.MAX_PAYLOAD + 1], null))) {
      assertThatThrownBy(
              () -> insert(bad), "the schema must refuse the row by plain SQL that is over a limit")
          .isInstanceOf(RuntimeException.class);
    }
    assertNothingDue("written in spite of a limit");
  }

  private static RawRow row(
      String type, String id, String event, byte[] payload, @Nullable String partitionKey) {
    return new RawRow(UUID.randomUUID(), type, id, event, payload, partitionKey, null);
  }

  @Rule("C10")
  @Sentence("a message that can expire is refused at the append, with all of it, or it does expire")
  void expiry() {
    assertRefusedOrExpires("expiresAt", message("k").expiresAt(ClaimTests.OVER).build());
    assertRefusedOrExpires("expireAfter", message("k").expireAfter(Duration.ZERO).build());
  }

  private void assertRefusedOrExpires(String field, OutboxMessage message) {
    Throwable thrown = thrownByAppend(List.of(message));
    if (thrown == null) {
      Claim claim = claim();
      check(
          first(claim).message().expiresAt() != null,
          "the append takes a message with %s and forgets that: let it expire, or refuse it with an InvalidMessageException",
          field);
      release(claim);
      settle(
          awaitExpired("a message with " + field + ", which was not refused, to expire"),
          Decision.expired());
      return;
    }
    expect("what the append of a message with " + field + " throws", thrown)
        .isInstanceOf(InvalidMessageException.class)
        .hasMessageContaining(field);
    expect(
            "what the append throws, of one without and one with " + field,
            thrownByAppend(List.of(message("k").build(), message)))
        .isInstanceOf(InvalidMessageException.class);
    assertNothingDue("written by an append that refused a message with " + field);
  }

  /** What the append throws, or null; then its transaction commits. */
  private @Nullable Throwable thrownByAppend(List<OutboxMessage> messages) {
    AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();
    tck.inTransaction(t -> thrown.set(catchThrowable(() -> store().append(t, messages))));
    return thrown.get();
  }

  // ---- rows by plain SQL

  private RawRow inserted(RawRow row) {
    insert(row);
    return row;
  }

  private void insert(RawRow row) {
    RawRows<T> rows = tck.fixture(RawRows.class);
    tck.inTransaction(t -> rows.insertRaw(t, row));
  }

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
    expect("key of the message", came.key()).isEqualTo(key("k"));
    expect("attempts of the claimed message", came.attempts()).isZero();
    assertThat(Duration.between(came.createdAt(), other.createdAt()).abs())
        .as("time between the createdAt of the row and of a message appended next")
        .isLessThan(Duration.ofMinutes(5));
    assertSame(came.message(), row.message());
  }

  @Rule("A6")
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

  @Rule("A6")
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
    OutboxMessage head = committed(message("blocked"));
    retryFirst(claim(), Duration.ZERO, true);
    insert(RawRow.of("blocked").withAvailableAt(now.plus(LONG)));
    assertCame("what is due of a key: its head, and not the row", awaitDrained(1)).inOrder(head);
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
