package dev.outbox.tck.inbox;

import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.Fingerprint;
import dev.outbox.inbox.Inbox.InProgressException;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.InboxStore.InboxStatistics;
import dev.outbox.store.memory.MemoryInboxStore;
import dev.outbox.store.memory.MemoryOutboxStore;
import dev.outbox.store.memory.MemoryTransaction;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.internal.StoryTests.Story;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Steps on an inbox and on the reference, with a clock that both have. Whatever either says is said
 * in words, and the words are compared: of a time, so many minutes.
 *
 * <p>Times are so chosen that no sum of steps of the clock meets the end of a lock or of a
 * retention: what the steps themselves take decides nothing.
 */
final class InboxStory<T> extends InboxTests<T> implements Story<InboxStory.Step> {
  private static final Duration RETENTION = Duration.ofMinutes(310);
  private static final List<InboxKey> KEYS =
      List.of(
          new InboxKey("shipping", "m"),
          new InboxKey("shipping", "M"),
          new InboxKey("Shipping", "m"),
          new InboxKey("shipping", "m "));
  private static final List<Duration> LOCKS =
      List.of(Duration.ofMinutes(60), Duration.ofMinutes(180), Duration.ofMinutes(900));
  private static final List<Duration> CLOCK =
      List.of(Duration.ofMinutes(40), Duration.ofMinutes(120));
  private static final List<Fingerprint> FINGERPRINTS =
      List.of(Fingerprint.none(), fingerprint("one"), fingerprint("one"), fingerprint("other"));

  private enum Verb {
    FIRST_TIME,
    BEGIN,
    RENEW,
    COMPLETE,
    COMPLETE_IN_TRANSACTION,
    RELEASE,
    MOVE_CLOCK,
    HOUSEKEEP
  }

  /**
   * @param which chooses of keys, locks or times
   * @param other chooses of a second such thing
   * @param commits whether the transaction does, where there is one
   */
  record Step(Verb verb, int which, int other, boolean commits) {
    static Step any(Random random) {
      Verb[] verbs = Verb.values();
      Verb verb = verbs[random.nextInt(verbs.length + 2) % verbs.length]; // more of the first two
      return new Step(verb, random.nextInt(1_000), random.nextInt(1_000), random.nextInt(4) > 0);
    }
  }

  /** The same lock, twice. */
  private record Locks<T>(InboxKey key, Lock<T> actual, Lock<MemoryTransaction> expected) {}

  private final InboxStore<T> actual;
  private final MemoryInboxStore expected;
  private final @Nullable MovesClock clock;
  private final Map<String, Integer> seen;
  private final List<Locks<T>> locks = new ArrayList<>();
  private final List<String> lines = new ArrayList<>();
  private Duration moved = Duration.ZERO;

  InboxStory(PatientInbox<T> tck, Map<String, Integer> seen) {
    super(tck);
    this.seen = seen;
    boolean forgets = tck.is(Retentions.class);
    if (forgets) {
      Retentions<T> fixture = tck.fixture(Retentions.class);
      tck.use(fixture.createStore(RETENTION));
    }
    actual = tck.store();
    clock = tck.is(MovesClock.class) ? tck.fixture(MovesClock.class) : null;
    expected =
        new MemoryInboxStore(
            new MemoryOutboxStore(
                () -> Instant.now().plus(moved), MemoryOutboxStore.DEFAULT_DEDUP_WINDOW),
            forgets ? RETENTION : Duration.ofDays(1));
  }

  @Override
  public List<String> lines() {
    return lines;
  }

  private static <E> E of(List<E> list, int which) {
    return list.get(which % list.size());
  }

  @Override
  public void play(Step step) {
    switch (step.verb()) {
      case FIRST_TIME -> firstTime(of(KEYS, step.which()), step.commits());
      case BEGIN -> begin(step);
      case MOVE_CLOCK -> moveClock(of(CLOCK, step.which()));
      case HOUSEKEEP ->
          compare("housekeep", () -> done(actual::housekeep), () -> done(expected::housekeep));
      default -> {
        if (!locks.isEmpty()) {
          useLock(step, of(locks, step.which()));
        }
      }
    }
    compareStatistics();
  }

  private static String done(Runnable action) {
    action.run();
    return "done";
  }

  private void firstTime(InboxKey key, boolean commits) {
    compare(
        "firstTime of %s%s".formatted(key, ending(commits)),
        () -> inTransaction(commits, t -> firstTime(actual, t, key)),
        () -> inMemory(commits, t -> firstTime(expected, t, key)));
  }

  private static <U> String firstTime(InboxStore<U> store, U transaction, InboxKey key) {
    try {
      return Boolean.toString(store.firstTime(transaction, key));
    } catch (InProgressException e) {
      return "in progress for " + minutes(e.left());
    }
  }

  private static String ending(boolean commits) {
    return commits ? ", which commits" : ", which rolls back";
  }

  private void begin(Step step) {
    InboxKey key = of(KEYS, step.which());
    Duration lock = of(LOCKS, step.other());
    Fingerprint fingerprint = of(FINGERPRINTS, step.which() / KEYS.size());
    List<Lock<T>> ofActual = new ArrayList<>();
    List<Lock<MemoryTransaction>> ofExpected = new ArrayList<>();
    compare(
        "begin of %s for %s with %.16s".formatted(key, minutes(lock), fingerprint),
        () -> told(actual.begin(key, lock, fingerprint), ofActual),
        () -> told(expected.begin(key, lock, fingerprint), ofExpected));
    if (!ofActual.isEmpty()) {
      locks.add(new Locks<>(key, ofActual.get(0), ofExpected.get(0)));
    }
  }

  private static <U> String told(Begin<U> begin, List<Lock<U>> locks) {
    if (begin instanceof Begin.Started<U> started) {
      locks.add(started.lock());
    }
    return begin instanceof Begin.InProgress<U> progress
        ? "in progress for " + minutes(progress.left())
        : begin instanceof Begin.Done<U> done
            ? "done with %s: %s".formatted(done.result(), new String(done.result().content()))
            : told(begin);
  }

  /** Rounded to ten, so that a slow database says the same. */
  private static String minutes(Duration time) {
    return (time.toMinutes() + 5) / 10 * 10 + " minutes";
  }

  private void useLock(Step step, Locks<T> lock) {
    String what =
        "%s attempt of %s"
            .formatted("by the lock of the " + lock.expected().attempts() + ".", lock.key());
    InboxResult result = result("result " + step.other());
    Duration time = of(LOCKS, step.other());
    switch (step.verb()) {
      case RENEW ->
          compare(
              "renew for %s %s".formatted(minutes(time), what),
              () -> lock.actual().renew(time),
              () -> lock.expected().renew(time));
      case COMPLETE ->
          compare(
              "complete with 'result %s' %s".formatted(step.other(), what),
              () -> lock.actual().complete(result),
              () -> lock.expected().complete(result));
      case COMPLETE_IN_TRANSACTION ->
          compare(
              "complete in a transaction with 'result %s' %s%s"
                  .formatted(step.other(), what, ending(step.commits())),
              () -> inTransaction(step.commits(), t -> lock.actual().complete(t, result)),
              () -> inMemory(step.commits(), t -> lock.expected().complete(t, result)));
      default ->
          compare(
              "release " + what,
              () -> lock.actual().release("refused"),
              () -> lock.expected().release("refused"));
    }
  }

  private void moveClock(Duration by) {
    if (clock != null) {
      lines.add("the clock moves by " + minutes(by));
      clock.moveClock(by);
      moved = moved.plus(by);
    }
  }

  private void compareStatistics() {
    InboxStatistics figures = actual.statistics(100);
    if (figures != null) {
      expect("statistics after the last of these steps", figures)
          .isEqualTo(expected.statistics(100));
    }
  }

  private void compare(String what, Supplier<Object> actually, Supplier<Object> asExpected) {
    String should = asExpected.get().toString();
    lines.add(what + " should say: " + should);
    String said = call(what, actually::get).toString();
    expect("what the last of these steps says", said).isEqualTo(should);
    seen.merge(what.split(" ")[0] + ": " + should.split(" ")[0], 1, Integer::sum);
  }

  // ---- transactions

  private String inTransaction(boolean commits, Function<T, Object> work) {
    return (commits ? tck.commit(work) : tck.rollBack(work)).toString();
  }

  private String inMemory(boolean commits, Function<MemoryTransaction, Object> work) {
    MemoryTransaction transaction = expected.database().begin();
    try {
      String said = work.apply(transaction).toString();
      if (commits) {
        transaction.commit();
      }
      return said;
    } finally {
      transaction.rollback(); // does nothing after the commit
    }
  }
}
