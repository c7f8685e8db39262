package dev.outbox.tck.inbox;

import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.Fingerprint;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.tck.internal.Patience;
import dev.outbox.tck.internal.SuiteTests;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Predicate;

/** What the tests of inboxes say, in words of the contract. */
abstract class InboxTests<T> extends SuiteTests<PatientInbox<T>> {

  static final InboxKey KEY = key("m");

  InboxStore<T> store() {
    return tck.store();
  }

  static InboxKey key(String messageId) {
    return new InboxKey("shipping", messageId);
  }

  static InboxResult result(String content) {
    return InboxResult.of(content.getBytes(StandardCharsets.UTF_8), "text/plain");
  }

  static Fingerprint fingerprint(String of) {
    return Fingerprint.of(of.getBytes(StandardCharsets.UTF_8));
  }

  // ---- the caller's transaction

  /** Records the key in a transaction that commits; says what firstTime said. */
  boolean firstTime(InboxKey key) {
    return tck.commit(t -> store().firstTime(t, key));
  }

  boolean rolledBack(Predicate<T> work) {
    return tck.rollBack(work::test);
  }

  // ---- begin

  Begin<T> begin(InboxKey key) {
    return begin(key, LONG, Fingerprint.none());
  }

  Begin<T> begin(InboxKey key, Duration lock, Fingerprint fingerprint) {
    return store().begin(key, lock, fingerprint);
  }

  /** A lock that the key must have to give. */
  Lock<T> started(InboxKey key) {
    return started(key, LONG, Fingerprint.none());
  }

  Lock<T> started(InboxKey key, Duration lock) {
    return started(key, lock, Fingerprint.none());
  }

  Lock<T> started(InboxKey key, Duration lock, Fingerprint fingerprint) {
    return started("a key that is free", begin(key, lock, fingerprint));
  }

  static <T> Lock<T> started(String what, Begin<T> begin) {
    if (begin instanceof Begin.Started<T> started) {
      return started.lock();
    }
    throw failed("begin of %s says '%s' instead of started", what, told(begin));
  }

  /** Waits until the lock that somebody has is over. */
  Lock<T> awaitStarted(InboxKey key) {
    return awaitStarted(key, Fingerprint.none());
  }

  Lock<T> awaitStarted(InboxKey key, Fingerprint fingerprint) {
    return tck.await(
        endOfLock() + OTHER_CLOCK,
        () -> begin(key, LONG, fingerprint) instanceof Begin.Started<T> s ? s.lock() : null);
  }

  static void assertDone(String what, Begin<?> begin, InboxResult expected) {
    expect("what begin says of %s".formatted(what), begin)
        .withFailMessage(
            () ->
                "begin of %s says '%s' instead of done with %s"
                    .formatted(what, told(begin), expected))
        .isEqualTo(new Begin.Done<>(expected));
  }

  /** That nobody is given the lock that somebody has; what else is said is another rule's. */
  static void assertNotStarted(String what, Begin<?> begin) {
    check(
        !(begin instanceof Begin.Started<?>),
        "two have the lock of a key at the same time: begin started once more, though %s",
        what);
  }

  static void assertMismatch(String what, Begin<?> begin) {
    check(
        begin instanceof Begin.Mismatch<?>,
        "begin with another fingerprint says '%s' instead of mismatch, where the key %s",
        told(begin),
        what);
  }

  /** For sentences. */
  static String told(Begin<?> begin) {
    if (begin instanceof Begin.Started<?> started) {
      return "started, attempt " + started.lock().attempts();
    } else if (begin instanceof Begin.InProgress<?> progress) {
      return "in progress for " + progress.left();
    } else if (begin instanceof Begin.Done<?> done) {
      return "done with " + done.result();
    }
    return "mismatch";
  }

  // ---- lock

  boolean completeInTransaction(Lock<T> lock, InboxResult result) {
    return tck.commit(t -> lock.complete(t, result));
  }

  /** A lock that ran out, and the one that took over. */
  record TakenOver<T>(Lock<T> stale, Lock<T> current) {}

  TakenOver<T> takenOver(InboxKey key) {
    Lock<T> stale = started(key, soon());
    return new TakenOver<>(stale, awaitStarted(key));
  }

  /** By a lock that nobody took over, whether it has ended by then or not. */
  static void assertAccepted(String what, boolean said) {
    expect("%s by a lock that nobody took over".formatted(what), said).isTrue();
  }

  String endOfLock() {
    return "the end of a lock of " + Patience.seconds(soon());
  }
}
