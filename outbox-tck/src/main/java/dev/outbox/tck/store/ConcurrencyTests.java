package dev.outbox.tck.store;

import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.spi.store.KeepingStore.Uncommitted;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Deadline;
import dev.outbox.tck.internal.InThread;
import dev.outbox.tck.internal.Oracle;
import dev.outbox.tck.internal.Sentence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;

/**
 * Producers and relay workers in threads, with random failures, under the eyes of an oracle. Half
 * of the workers may be of a relay that keeps keys, to which half of the appends are handed over.
 */
@Tag("slow")
abstract class ConcurrencyTests<T> extends StoreTests<T> {
  private static final int MOST_OF_A_RULE = 3;
  private static final int PRODUCERS = 3;
  private static final int WORKERS = 4;
  private static final int KEYS = 25;

  private final long seed = loadSeed();
  private final Oracle oracle = new Oracle();
  private final List<InThread<Boolean>> threads = new ArrayList<>();
  private final AtomicInteger left = new AtomicInteger();
  private final Map<String, Lock> keyLocks = new ConcurrentHashMap<>();
  private final Set<String> dedupKeys = ConcurrentHashMap.newKeySet();
  private @Nullable KeepingStore<T> keeping;
  private @Nullable Keeper keeper;
  private volatile boolean producing = true;
  private volatile boolean stopped;

  @Rule({"A1", "A4", "C1", "C2", "C3", "C8", "C9", "S2", "S4", "O1"})
  @Sentence("they hold under load, also where keys are kept and messages are handed over")
  @SuppressWarnings("unchecked")
  void underLoad() {
    if (store() instanceof KeepingStore<?> able) {
      keeping = (KeepingStore<T>) able;
      keeper = keeping.keeper(tck.shortTime().dividedBy(10));
    }
    run();
    List<String> broken =
        Stream.of("A1", "A4", "C1", "C2", "C3", "S2", "S4", "O1")
            .filter(rule -> !oracle.violations(rule).isEmpty())
            .toList();
    List<String> rules = new ArrayList<>(broken);
    if (keeping != null) {
      rules.addAll(List.of("C8", "C9")); // half of the load is theirs
    }
    check(
        broken.isEmpty(),
        "%s: %s; the same load again with -Doutbox.tck.seed=%s",
        String.join(", ", rules),
        broken.stream()
            .flatMap(rule -> oracle.violations(rule).stream().limit(MOST_OF_A_RULE))
            .collect(Collectors.joining("; ")),
        seed);
  }

  /**
   * Returns when all that was committed is delivered or dead, or when there is no more progress.
   */
  private void run() {
    left.set(tck.load());
    start("producer", "A4", PRODUCERS, (i, random) -> produce(random));
    start(
        "worker",
        "S4",
        WORKERS,
        (i, random) -> work(keeper != null && i % 2 == 0 ? keeper : tck.createStore(), random));
    await(() -> alive("producer").isEmpty());
    producing = false;
    await(() -> oracle.open() == 0); // the oracle knows
    stopped = true;
    await(() -> alive("worker").isEmpty());
    for (InThread<Boolean> thread : alive("")) {
      thread.interrupt();
      oracle.failed("C3", thread.name() + " does not return from the store");
    }
  }

  private List<InThread<Boolean>> alive(String name) {
    return threads.stream().filter(t -> t.name().startsWith(name) && !t.isDone()).toList();
  }

  /** Waits until it is so; not when there is no progress any more. */
  private void await(BooleanSupplier done) {
    List<Integer> before = List.of();
    Deadline deadline = new Deadline(tck.patience());
    while (!done.getAsBoolean()) {
      List<Integer> now = List.of(left.get(), oracle.open(), alive("").size());
      deadline = now.equals(before) ? deadline : new Deadline(tck.patience());
      before = now;
      if (deadline.isOver()) {
        tck.waits().waitedInVain();
        return;
      }
      deadline.pause(Duration.ofMillis(2));
    }
  }

  /**
   * @param rule which is broken when one of them ends by an exception
   */
  private void start(String name, String rule, int count, BiConsumer<Integer, Random> loop) {
    for (int i = 0; i < count; i++) {
      int number = i;
      Random random = new Random(seed * 31 + name.hashCode() + i);
      threads.add(
          new InThread<>(
              name + " " + i,
              () -> {
                try {
                  loop.accept(number, random);
                } catch (Throwable e) {
                  oracle.failed(rule, name + " ended by " + e);
                }
                return true;
              }));
    }
  }

  // ---- producers

  private void produce(Random random) {
    OutboxStore<T> store = tck.createStore();
    while (left.get() > 0) {
      List<OutboxMessage> messages = new ArrayList<>();
      String dedupKey = dedupKey(random);
      Set<String> keys = new TreeSet<>();
      for (int i = 0; i <= random.nextInt(4); i++) {
        OutboxMessage message = message(random, dedupKey);
        messages.add(message);
        keys.add(message.key());
      }
      left.addAndGet(-messages.size());
      // As producers lock the aggregate's row before they append, in the same order each time.
      keys.forEach(key -> lock(key).lock());
      try {
        transaction(store, messages, random);
      } finally {
        keys.forEach(key -> lock(key).unlock());
      }
    }
  }

  private Lock lock(String key) {
    return keyLocks.computeIfAbsent(key, k -> new ReentrantLock());
  }

  /** The next or the last: all producers want it. One a transaction, or two wait for each other. */
  private String dedupKey(Random random) {
    return "dedup " + (dedupKeys.size() - random.nextInt(2));
  }

  private static OutboxMessage message(Random random, String dedupKey) {
    OutboxMessage.Builder builder = message("k" + random.nextInt(KEYS));
    if (random.nextInt(20) == 0) {
      builder.deliverAfter(Duration.ofMillis(random.nextInt(100)));
    }
    if (random.nextInt(5) == 0) {
      builder.dedupKey(dedupKey);
    }
    return builder.build();
  }

  private void transaction(OutboxStore<T> store, List<OutboxMessage> messages, Random random) {
    messages.forEach(oracle::appending);
    boolean rollBack = random.nextInt(10) == 0;
    Set<UUID> duplicates = new HashSet<>();
    List<Uncommitted> uncommitted = new ArrayList<>();
    Function<T, Boolean> work =
        t -> {
          if (keeping != null && keeper != null && random.nextBoolean()) {
            Uncommitted appended = keeping.append(keeper, t, messages);
            uncommitted.add(appended);
            duplicates.addAll(appended.appended().duplicates());
          } else {
            duplicates.addAll(store.append(t, messages).duplicates());
          }
          return true;
        };
    boolean stored;
    try {
      stored = rollBack ? !tck.rollBack(work) : tck.commit(work);
    } catch (RuntimeException e) {
      if (!tck.isToRunAgain(e)) {
        throw e;
      }
      stored = false;
    }
    if (!stored) {
      oracle.notStored(messages);
      return;
    }
    for (OutboxMessage message : messages) {
      boolean duplicate = duplicates.contains(message.id());
      String dedupKey = message.dedupKey();
      if (dedupKey != null && !duplicate && !dedupKeys.add(dedupKey)) {
        oracle.failed("A4", message + " has the dedup key of another, and both were stored");
      }
      if (duplicate) {
        oracle.notStored(List.of(message));
      } else {
        oracle.committed(List.of(message));
      }
    }
    uncommitted.forEach(Uncommitted::committed);
  }

  // ---- workers

  private void work(Claim.Source store, Random random) {
    @Nullable Claim next = null;
    long calledAt = 0;
    while (!stopped) {
      if (next == null || next.messages().isEmpty()) {
        calledAt = System.nanoTime();
        next = retrying(() -> store.claim(request(random)));
      }
      long returnedAt = System.nanoTime();
      Claim claim = next;
      next = null;
      if (claim.messages().isEmpty()) {
        LockSupport.parkNanos(claim.pollAgain() ? 0 : 1_000_000);
        continue;
      }
      oracle.claimed(claim, calledAt);
      Map<Long, Decision> decisions = publish(claim, random);
      LockSupport.parkNanos(random.nextInt(1_000_000)); // publishing takes time, claims meet
      int fate = random.nextInt(producing ? 60 : 200);
      if (fate == 0) {
        continue; // crashed before settle
      }
      if (fate == 1) {
        LockSupport.parkNanos(2 * tck.shortTime().toNanos()); // slower than its lease
      }
      if (fate < 10) {
        retrying(() -> claim.renew(tck.shortTime()));
      }
      calledAt = System.nanoTime();
      Set<Long> lost;
      if (random.nextBoolean()) {
        Claim.Settled settled =
            retrying(() -> store.settleAndClaim(claim, decisions, request(random)));
        lost = settled.lost();
        next = settled.next();
      } else {
        lost = retrying(() -> claim.settle(decisions));
      }
      oracle.settled(claim, returnedAt, calledAt, lost, decisions);
    }
  }

  private Claim.Request request(Random random) {
    return new Claim.Request(
        Thread.currentThread().getName(), 1 + random.nextInt(15), 1_000_000, tck.shortTime());
  }

  /** As a relay does: nothing of a key is delivered after one that was not. */
  private Map<Long, Decision> publish(Claim claim, Random random) {
    Map<Long, Decision> decisions = new HashMap<>();
    Set<String> stoppedKeys = new HashSet<>();
    for (StoredMessage message : claim.messages()) {
      if (stoppedKeys.contains(message.key())) {
        continue;
      }
      Decision decision = decide(random);
      if (decision instanceof Decision.Delivered) {
        oracle.delivering(message);
      } else {
        stoppedKeys.add(message.key());
      }
      if (decision != null) {
        decisions.put(message.sequence(), decision);
      }
    }
    return decisions;
  }

  private @Nullable Decision decide(Random random) {
    Duration delay = Duration.ofMillis(random.nextInt(20));
    return switch (random.nextInt(40)) {
      case 0, 1 -> Decision.retry(delay, "failed");
      case 2, 3 -> Decision.retryUncounted(delay, "unavailable");
      case 4 -> Decision.dead("rejected");
      case 5 -> null;
      default -> Decision.delivered();
    };
  }

  private static <R> R retrying(Supplier<R> operation) {
    for (int i = 0; ; i++) {
      try {
        return operation.get();
      } catch (TransientOutboxException e) {
        if (i == 20) {
          throw e;
        }
        LockSupport.parkNanos(1_000_000L << Math.min(i, 6));
      }
    }
  }
}
