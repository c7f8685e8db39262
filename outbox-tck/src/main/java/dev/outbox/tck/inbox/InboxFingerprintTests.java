package dev.outbox.tck.inbox;

import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.Fingerprint;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Sentence;
import java.util.Arrays;

@Rule("I7")
abstract class InboxFingerprintTests<T> extends InboxTests<T> {
  private static final Fingerprint ONE = fingerprint("one");
  private static final Fingerprint OTHER = fingerprint("other");

  @Sentence("another fingerprint is a mismatch in progress, where it harms nobody, and when done")
  void mismatch() {
    Lock<T> lock = started(KEY, LONG, ONE);
    assertMismatch("is in progress", begin(KEY, LONG, OTHER));
    expect("complete after a mismatch", lock.complete(result("r"))).isTrue();
    assertMismatch("is done", begin(KEY, LONG, OTHER));
    requires(
        "I6", () -> assertDone("a key with its fingerprint", begin(KEY, LONG, ONE), result("r")));
  }

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
