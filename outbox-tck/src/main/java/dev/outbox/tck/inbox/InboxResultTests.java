package dev.outbox.tck.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.Fingerprint;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Sentence;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** I6 and I7. */
@Rule("I6")
abstract class InboxResultTests<T> extends InboxTests<T> {
  private static final Fingerprint ONE = fingerprint("one");
  private static final Fingerprint OTHER = fingerprint("other");

  private static Map<String, InboxResult> results() {
    byte[] all = new byte[256];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) i;
    }
    byte[] largest = new byte[InboxResult.MAX_CONTENT];
    largest[0] = 1;
    largest[largest.length - 1] = -1;
    Map<String, InboxResult> results = new LinkedHashMap<>();
    results.put("of all bytes", InboxResult.of(all, "application/octet-stream"));
    results.put("that is empty", InboxResult.of(new byte[0], "application/json"));
    results.put("without a content type", InboxResult.of(all, null));
    results.put("that is none", InboxResult.none());
    results.put("of the largest size", InboxResult.of(largest, "\uD83D\uDE80".repeat(255)));
    return results;
  }

  @Sentence("a key that is done gives exactly the result that was stored, again and again")
  void exactResult() {
    for (boolean inTransaction : List.of(false, true)) {
      results()
          .forEach(
              (name, result) -> {
                InboxKey key = key("%s, in a transaction: %s".formatted(name, inTransaction));
                Lock<T> lock = started(key);
                assertThat(
                        inTransaction ? completeInTransaction(lock, result) : lock.complete(result))
                    .as("complete with a result %s", key.messageId())
                    .isTrue();
                for (int i = 0; i < 2; i++) {
                  assertDone("a key with a result " + key.messageId(), begin(key), result);
                }
              });
    }
  }

  @Sentence("the first result stays, whatever is completed later")
  void firstStays() {
    Lock<T> lock = started(KEY);
    lock.complete(result("first"));
    lock.complete(result("second"));
    completeInTransaction(lock, result("third"));
    assertDone("a key that was completed three times", begin(KEY), result("first"));
  }

  @Sentence("a key that is done is not begun again, not even after its lock would have ended")
  void notBegunAgain() {
    Lock<T> lock = started(KEY, soon());
    requires("I4", () -> assertAccepted("complete", lock.complete(result("r"))));
    assertThat(firstTime(key("recorded"))).isTrue();
    letLeaseEnd();
    assertDone("a key whose lock would have ended", begin(KEY), result("r"));
    assertDone("a key that was recorded", begin(key("recorded")), InboxResult.none());
    expect("firstTime of a key that was completed", firstTime(KEY)).isFalse();
  }

  @Sentence("a released key may be begun again at once, and its attempts count")
  void releasedStartsAgain() {
    for (int attempt = 1; attempt <= 4; attempt++) {
      Lock<T> lock = started("a released key", begin(KEY));
      assertThat(lock.attempts())
          .as("attempts of a key that was begun for the %s. time", attempt)
          .isEqualTo(attempt);
      expect("the lock's key", lock.key()).isEqualTo(KEY);
      expect("release", lock.release("refused")).isTrue();
    }
    expect("firstTime of a released key", firstTime(KEY)).isTrue();
    assertDone("a key that was recorded after a release", begin(KEY), InboxResult.none());
  }

  @Sentence("no error text makes a release fail")
  void hostileErrors() {
    for (String error :
        List.of("", "\u0000", "a\u0000b", "\uD83D", "\uDE80\uD83D", "'\"\\", "e".repeat(100_000))) {
      Lock<T> lock = started("a released key", begin(KEY));
      assertThat(lock.release(error))
          .as("release with %s", shown(error.substring(0, Math.min(9, error.length()))))
          .isTrue();
    }
  }

  @Rule("I7")
  @Sentence("another fingerprint is a mismatch in progress, where it harms nobody, and when done")
  void mismatch() {
    Lock<T> lock = started(KEY, LONG, ONE);
    assertMismatch("is in progress", begin(KEY, LONG, OTHER));
    expect("complete after a mismatch", lock.complete(result("r"))).isTrue();
    assertMismatch("is done", begin(KEY, LONG, OTHER));
    requires(
        "I6", () -> assertDone("a key with its fingerprint", begin(KEY, LONG, ONE), result("r")));
  }

  @Rule("I7")
  @Sentence("another fingerprint is a mismatch when the key was released, or its lock ran out")
  void releasedOrOver() {
    started(key("released"), LONG, ONE).release("refused");
    assertMismatch("was released", begin(key("released"), LONG, OTHER));
    Begin<T> same = begin(key("released"), LONG, ONE);
    requires("I6", () -> started("a released key with its fingerprint", same));
    started(key("over"), soon(), ONE);
    letLeaseEnd();
    assertMismatch("was locked, and the lock ran out", begin(key("over"), LONG, OTHER));
    requires("I4", () -> awaitStarted(key("over"), ONE));
  }

  @Rule("I7")
  @Sentence("no fingerprint is compared with nothing, and the first that comes is remembered")
  void none() {
    InboxKey key = key("without");
    started(key, LONG).release("refused");
    started("a key that had no fingerprint", begin(key, LONG, ONE)).release("refused");
    started("a key with a fingerprint, begun without one", begin(key, LONG, Fingerprint.none()))
        .release("refused");
    assertMismatch("had none at first, then another", begin(key, LONG, OTHER));
    expect("firstTime, which has no fingerprint", firstTime(key)).isTrue();
    assertMismatch("was recorded, and begun with another before", begin(key, LONG, OTHER));
    firstTime(KEY);
    requires(
        "I6",
        () ->
            assertDone(
                "a key that was recorded, begun with some fingerprint",
                begin(KEY, LONG, ONE),
                InboxResult.none()));
  }

  @Rule("I7")
  @Sentence("fingerprints are compared to the last byte")
  void toTheLastByte() {
    byte[] longest = new byte[Fingerprint.MAX];
    longest[3] = 3;
    started(KEY, LONG, Fingerprint.ofHash(longest)).complete(result("r"));
    byte[] other = longest.clone();
    other[Fingerprint.MAX - 1] = 1;
    assertMismatch("differs in the last byte", begin(KEY, LONG, Fingerprint.ofHash(other)));
    assertMismatch(
        "begins with it",
        begin(KEY, LONG, Fingerprint.ofHash(Arrays.copyOf(longest, Fingerprint.MAX - 1))));
  }
}
