package dev.outbox.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.outbox.NoTransactionException;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** I1. */
abstract class InboxRecordTests<T> extends InboxTests<T> {

  /** Each looks like another, and none is another. */
  private static final List<String> LOOKALIKES =
      List.of("m", "M", "m ", " m", "m\t", "m/m", "caf\u00E9", "cafe\u0301", "\u00DF", "ss");

  /** What a text may have in it. */
  private static final List<String> HOSTILE =
      List.of(
          "'",
          "\"",
          "\\",
          "\\'",
          "`",
          "%",
          "_",
          "$",
          "?",
          ":key",
          "${p}",
          "--",
          "/*",
          ";",
          "{}",
          "[1]",
          "null",
          "\u0001",
          "a\nb",
          "a\r\nb",
          "\u200B",
          "\u202E",
          "\uFFFF",
          "\uD83D\uDE80",
          "a".repeat(255),
          "\uD83D\uDE80".repeat(255),
          "\u4E2D".repeat(255),
          "'".repeat(255));

  InboxRecordTests(InboxStoreTck<T> tck) {
    super(tck);
  }

  @Test
  @Rule("I1")
  @Sentence("firstTime says true once, and the transaction goes on")
  void once() {
    List<Boolean> said = new ArrayList<>();
    StoreTests.run(
        "firstTime",
        () ->
            tck.inTransaction(
                t -> {
                  said.add(store().firstTime(t, KEY));
                  said.add(store().firstTime(t, KEY));
                  said.add(store().firstTime(t, key("other")));
                }));
    assertThat(said)
        .as("firstTime of a key, of the same one in the same transaction, of another one")
        .containsExactly(true, false, true);
    StoreTests.run(
        "firstTime",
        () ->
            tck.inTransaction(
                t -> {
                  said.add(store().firstTime(t, KEY));
                  said.add(store().firstTime(t, key("third")));
                }));
    assertThat(said.subList(3, 5))
        .as("firstTime of the key in a later transaction, and of a new one after it")
        .containsExactly(false, true);
    assertThat(firstTime(key("other"))).as("firstTime of the other key, later").isFalse();
    assertThat(firstTime(key("third"))).as("firstTime of the third key, later").isFalse();
  }

  @Test
  @Rule("I1")
  @Sentence("what a transaction records is recorded when it commits, or not at all")
  void allOrNothing() {
    rolledBack("firstTime", t -> store().firstTime(t, key("a")) && store().firstTime(t, key("b")));
    assertThat(
            inTransaction(
                "firstTime", t -> store().firstTime(t, key("a")) && store().firstTime(t, key("b"))))
        .as("firstTime of two keys, after a transaction with both rolled back")
        .isTrue();
    assertThat(firstTime(key("a")) || firstTime(key("b")))
        .as("firstTime of either key, after a transaction with both committed")
        .isFalse();
  }

  @Test
  @Rule("I1")
  @Sentence("keys that look alike are different keys")
  void differentKeys() {
    Stream<InboxKey> keys =
        Stream.concat(
            LOOKALIKES.stream().map(text -> new InboxKey("shipping", text)),
            LOOKALIKES.stream().map(text -> new InboxKey(text, "m")));
    assertThat(keys.filter(key -> !firstTime(key)).map(InboxRecordTests::shown))
        .as("keys that the inbox takes for one before them, which only looks like them")
        .isEmpty();
  }

  @Test
  @Rule("I1")
  @Sentence("whatever a key has in it, up to 255 characters, it is found again")
  void hostileKeys() {
    for (String text : HOSTILE) {
      InboxKey key = new InboxKey(text, text);
      assertThat(firstTime(key)).as("firstTime of %s", shown(key)).isTrue();
      assertThat(firstTime(key)).as("firstTime of %s once more", shown(key)).isFalse();
      assertDone(shown(key), begin(key), InboxResult.none());
    }
  }

  private static String shown(InboxKey key) {
    return FieldTests.shown(key.consumer()) + ": " + FieldTests.shown(key.messageId());
  }

  @Test
  @Rule("I1")
  @Sentence("without a transaction firstTime and complete are refused, and nothing is written")
  void noTransaction() {
    AutoCommit<T> fixture = tck.fixture(AutoCommit.class);
    Lock<T> lock = started(key("locked"));
    assertRefused("firstTime", () -> fixture.withoutTransaction(t -> store().firstTime(t, KEY)));
    assertThat(firstTime(KEY)).as("firstTime, after one that was refused").isTrue();
    assertRefused(
        "complete", () -> fixture.withoutTransaction(t -> lock.complete(t, result("refused"))));
    assertThat(complete(lock, result("accepted")))
        .as("complete, after one that was refused")
        .isTrue();
    assertDone("a key that was completed", begin(key("locked")), result("accepted"));
  }

  private static void assertRefused(String what, Runnable action) {
    assertThat(catchThrowable(action::run))
        .as("%s without a transaction", what)
        .isInstanceOf(NoTransactionException.class)
        .satisfies(e -> assertThat(e.getMessage()).hasSizeBetween(20, 500));
  }

  @Test
  @Rule("I1")
  @Sentence("complete in a transaction counts if and only if that commits")
  void completeInTransaction() {
    Lock<T> lock = started(KEY);
    assertThat(rolledBack("complete", t -> lock.complete(t, result("rolled back"))))
        .as("complete in a transaction that rolls back later")
        .isTrue();
    assertThat(inTransaction("complete", t -> lock.complete(t, result("committed"))))
        .as("complete, after a transaction that completed rolled back")
        .isTrue();
    assertDone("a key that was completed", begin(KEY), result("committed"));
    StoreTests.requires(
        "I4",
        () ->
            assertThat(rolledBack("complete", t -> lock.complete(t, result("committed"))))
                .as("complete once more, in another transaction")
                .isTrue());
    assertDone("a key that was completed before", begin(KEY), result("committed"));
  }

  @Test
  @Rule("I1")
  @Sentence("complete and other records of a transaction share its fate")
  void completeWithOthers() {
    Lock<T> lock = started(KEY);
    rolledBack("complete", t -> lock.complete(t, result("r")) && store().firstTime(t, key("b")));
    assertThat(
            inTransaction(
                "complete", t -> lock.complete(t, result("r")) && store().firstTime(t, key("b"))))
        .as("complete and firstTime, after a transaction with both rolled back")
        .isTrue();
    assertDone("the one that was completed", begin(KEY), result("r"));
    assertThat(firstTime(key("b"))).as("firstTime of the one that was recorded").isFalse();
  }
}
