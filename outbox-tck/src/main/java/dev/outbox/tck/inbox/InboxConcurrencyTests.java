package dev.outbox.tck.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Deadline;
import dev.outbox.tck.internal.Sentence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.opentest4j.AssertionFailedError;

/** Many consumers that have the same messages at once. */
@Tag("slow")
abstract class InboxConcurrencyTests<T> extends InboxTests<T> {
  private static final int CONSUMERS = 6;
  private final long seed = loadSeed();

  /** One has failed, or takes too long: the others need not go on. */
  private final AtomicBoolean over = new AtomicBoolean();

  /** All consumers go over all messages, in different orders. */
  private void run(BiConsumer<InboxKey, Random> handling) {
    List<Random> each = IntStream.range(0, CONSUMERS).mapToObj(i -> new Random(seed + i)).toList();
    try {
      atOnce("consumer", each, random -> goOver(handling, random));
    } catch (AssertionError e) {
      throw new AssertionFailedError(e.getMessage() + again(), e.getCause());
    } finally {
      over.set(true);
    }
  }

  /** Fails when it is the first: others may have met a conflict after that, and not tried again. */
  private boolean goOver(BiConsumer<InboxKey, Random> handling, Random random) {
    try {
      for (int i = 0; i < tck.load() && !over.get(); i++) {
        handling.accept(key("m" + (i ^ random.nextInt(2))), random); // mostly the same ones at once
      }
    } catch (RuntimeException | AssertionError e) {
      if (!over.getAndSet(true)) {
        throw e;
      }
    }
    return true;
  }

  private String again() {
    return "; the same load again with -Doutbox.tck.seed=" + seed;
  }

  @Rule({"I1", "I2"})
  @Sentence("of many that have a message at once, some of which roll back, exactly one handles it")
  void onlyOneCommits() {
    Map<InboxKey, AtomicInteger> handled = new ConcurrentHashMap<>();
    run(
        (key, random) -> {
          AtomicInteger times = handled.computeIfAbsent(key, k -> new AtomicInteger());
          boolean again = true; // when it was the first, and has rolled back
          while (again && !over.get()) {
            boolean commits = random.nextBoolean();
            Function<T, Boolean> work = t -> store().firstTime(t, key);
            boolean first = untilItIs(() -> commits ? tck.commit(work) : tck.rollBack(work));
            times.addAndGet(commits && first ? 1 : 0);
            again = first && !commits;
          }
        });
    assertThat(
            handled.entrySet().stream()
                .filter(e -> e.getValue().get() != 1)
                .map(e -> e.getKey() + ": " + e.getValue()))
        .as("transactions that committed as the first, where there were not one%s", again())
        .isEmpty();
  }

  @Rule("I3")
  @Sentence("of many that begin a message at once, one has the lock at a time")
  void oneLock() {
    Map<InboxKey, AtomicInteger> inside = new ConcurrentHashMap<>();
    Queue<String> wrong = new ConcurrentLinkedQueue<>();
    run(
        (key, random) -> {
          Begin<T> begin = untilItIs(() -> store().begin(key, LONG));
          if (begin instanceof Begin.Started<T> started) {
            AtomicInteger holders = inside.computeIfAbsent(key, k -> new AtomicInteger());
            if (holders.incrementAndGet() > 1) {
              wrong.add("two have the lock of " + key);
            }
            Thread.yield();
            holders.decrementAndGet();
            untilItIs(() -> started.lock().release("refused"));
          }
        });
    assertThat(wrong).as("locks that more than one had%s", again()).isEmpty();
  }

  @Rule("I4")
  @Sentence("of many that take over from each other, one completes, and all get its result")
  void oneCompletes() {
    Map<InboxKey, Queue<InboxResult>> completed = new ConcurrentHashMap<>();
    Map<InboxKey, AtomicInteger> started = new ConcurrentHashMap<>();
    run(
        (key, random) -> {
          while (!over.get()) {
            Begin<T> begin = untilItIs(() -> store().begin(key, soon().dividedBy(8)));
            if (begin instanceof Begin.Done<T>) {
              return;
            }
            if (begin instanceof Begin.Started<T> begun) {
              AtomicInteger times = started.computeIfAbsent(key, k -> new AtomicInteger());
              int own = times.incrementAndGet();
              boolean slow = random.nextInt(3) == 0;
              Deadline end = new Deadline(soon());
              while (slow && times.get() == own && !end.isOver()) {
                end.pause(Duration.ofMillis(1)); // until another has taken over
              }
              Lock<T> lock = begun.lock();
              InboxResult result = result(Long.toString(random.nextLong()));
              if (untilItIs(() -> lock.complete(result))) {
                completed.computeIfAbsent(key, k -> new ConcurrentLinkedQueue<>()).add(result);
              }
            } else {
              Thread.yield();
            }
          }
        });
    List<String> wrong = new ArrayList<>();
    completed.forEach(
        (key, results) -> {
          if (results.size() != 1) {
            wrong.add("%s was completed %s times".formatted(key, results.size()));
          } else if (!begin(key).equals(new Begin.Done<T>(results.element()))) {
            wrong.add(
                "%s was completed with %s, and begin says '%s'"
                    .formatted(key, results.element(), told(begin(key))));
          }
        });
    expect("what came of them%s".formatted(again()), wrong).isEmpty();
  }

  /** Runs it again while the inbox says that this can help. */
  private <R> R untilItIs(Supplier<R> action) {
    while (true) {
      try {
        return action.get();
      } catch (RuntimeException e) {
        if (over.get() || !tck.isToRunAgain(e)) {
          throw e;
        }
        LockSupport.parkNanos(1_000_000);
      }
    }
  }
}
