package dev.outbox.tck.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.outbox.NoTransactionException;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.tck.AutoCommit;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Sentence;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

@Rule("I1")
abstract class InboxRecordTests<T> extends InboxTests<T> {

  /** Each looks like another, and none is another. */
  private static final List<String> LOOKALIKES =
      List.of("m", "M", "m ", " m", "m\t", "m/m", "caf\u00E9", "cafe\u0301", "\u00DF", "ss");

  @Sentence("firstTime says true once, and the transaction goes on")
  void once() {
    expect(
            "firstTime of a key, of the same one in the same transaction, of another one",
            said(KEY, KEY, key("other")))
        .containsExactly(true, false, true);
    expect(
            "firstTime of the key in a later transaction, and of a new one after it",
            said(KEY, key("third")))
        .containsExactly(false, true);
    expect("firstTime of the other key, later", firstTime(key("other"))).isFalse();
    expect("firstTime of the third key, later", firstTime(key("third"))).isFalse();
  }

  /** What firstTime says of each, in one transaction. */
  private List<Boolean> said(InboxKey... keys) {
    return tck.commit(t -> Stream.of(keys).map(key -> store().firstTime(t, key)).toList());
  }

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

  @Sentence("whatever a key has in it, up to 255 characters, it is found again")
  void hostileKeys() {
    List<String> texts = new ArrayList<>(NASTY);
    texts.addAll(List.of("\uFFFF", "'".repeat(255), "\u4E2D".repeat(255)));
    for (String text : texts) {
      InboxKey key = new InboxKey(text, text);
      expect("firstTime of %s".formatted(shown(key)), firstTime(key)).isTrue();
      expect("firstTime of %s once more".formatted(shown(key)), firstTime(key)).isFalse();
      assertDone(shown(key), begin(key), InboxResult.none());
    }
  }

  private static String shown(InboxKey key) {
    return shown(key.consumer()) + ": " + shown(key.messageId());
  }

  @Sentence("without a transaction firstTime and complete are refused, and nothing is written")
  void noTransaction() {
    AutoCommit<T> fixture = tck.fixture(AutoCommit.class);
    Lock<T> lock = started(key("locked"));
    assertRefused("firstTime", () -> fixture.withoutTransaction(t -> store().firstTime(t, KEY)));
    expect("firstTime, after one that was refused", firstTime(KEY)).isTrue();
    assertRefused(
        "complete", () -> fixture.withoutTransaction(t -> lock.complete(t, result("refused"))));
    expect("complete, after one that was refused", lock.complete(result("accepted"))).isTrue();
    assertDone("a key that was completed", begin(key("locked")), result("accepted"));
  }

  private static void assertRefused(String what, Runnable action) {
    expect("%s without a transaction".formatted(what), catchThrowable(action::run))
        .isInstanceOf(NoTransactionException.class)
        .satisfies(e -> assertThat(e.getMessage()).hasSizeBetween(20, 500));
  }

  @Sentence("complete in a transaction counts if and only if that commits")
  void completeInTransaction() {
    Lock<T> lock = started(KEY);
    assertThat(rolledBack(t -> lock.complete(t, result("rolled back"))))
        .as("complete in a transaction that rolls back later")
        .isTrue();
    assertThat(inTransaction(t -> lock.complete(t, result("committed"))))
        .as("complete, after a transaction that completed rolled back")
        .isTrue();
    assertDone("a key that was completed", begin(KEY), result("committed"));
    requires(
        "I4",
        () ->
            assertThat(rolledBack(t -> lock.complete(t, result("committed"))))
                .as("complete once more, in another transaction")
                .isTrue());
    assertDone("a key that was completed before", begin(KEY), result("committed"));
  }
}
