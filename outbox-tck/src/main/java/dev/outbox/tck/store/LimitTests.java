package dev.outbox.tck.store;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.outbox.InvalidMessageException;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Sentence;
import dev.outbox.tck.store.RawRows.RawRow;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A5: what is over a limit in Java is no message; a builder refuses it. */
@Rule("A5")
abstract class LimitTests<T> extends StoreTests<T> {
  private static final String EMOJI = "\uD83D\uDE00";

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

  @Sentence("a row by plain SQL that is over a limit is refused by the schema")
  void rawRows() {
    RawRows<T> raw = tck.fixture(RawRows.class);
    String tooLong = EMOJI.repeat(OutboxMessage.MAX_TEXT + 1);
    byte[] payload = new byte[0];
    RawRow good = row("t", "k", "e", payload, null);
    requires(
        "A6",
        () -> {
          tck.inTransaction(t -> raw.insertRaw(t, good));
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
              () -> tck.inTransaction(t -> raw.insertRaw(t, bad)),
              "the schema must refuse the row by plain SQL that is over a limit")
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
    assertRefusedOrExpires("expiresAt", message("k").expiresAt(ExpiryTests.OVER).build());
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
}
