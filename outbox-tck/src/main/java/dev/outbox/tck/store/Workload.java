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
import dev.outbox.tck.internal.Deadline;
import dev.outbox.tck.internal.InThread;
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
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Producers and relay workers in threads, with random failures, under the eyes of an oracle. Half
 * of the workers may be of a relay that keeps keys, to which half of the appends are handed over.
 */
final class Workload<T> {
  private static final int PRODUCERS = 3;
  private static final int WORKERS = 4;
  private static final int KEYS = 25;

  private final PatientFixture<T> tck;
  private final long seed;
  private final @Nullable KeepingStore<T> keeping;
  private final @Nullable Keeper keeper;
  private final AtomicInteger workers = new AtomicInteger();
  final Oracle oracle = new Oracle();
  private final AtomicInteger left;
  private final Map<String, Lock> keyLocks = new ConcurrentHashMap<>();
  private final Set<String> dedupKeys = ConcurrentHashMap.newKeySet();
  private volatile boolean producing = true;
  private volatile boolean stopped;

  /**
   * @param keeping the store, where half of the workers are to keep keys
   */
  Workload(PatientFixture<T> tck, long seed, @Nullable KeepingStore<T> keeping) {
    this.tck = tck;
    this.seed = seed;
    this.keeping = keeping;
    this.keeper = keeping == null ? null : keeping.keeper(tck.shortTime().dividedBy(10));
    this.left = new AtomicInteger(tck.load());
  }

  /**
   * Returns when all that was committed is delivered or dead, or when there is no more progress.
   */
  void run() {
    List<InThread<Boolean>> producers = start("producer", "A4", PRODUCERS, this::produce);
    List<InThread<Boolean>> workers = start("worker", "S4", WORKERS, this::work);
    awaitEnd(producers, left::get);
    producing = false;
    boolean ignored = await(() -> oracle.open() == 0, oracle::open); // the oracle knows
    stopped = true;
    awaitEnd(workers, () -> alive(workers));
  }

  private void awaitEnd(List<InThread<Boolean>> threads, LongSupplier progress) {
    if (!await(() -> alive(threads) == 0, progress)) {
      for (InThread<Boolean> thread : threads) {
        if (!thread.isDone()) {
          thread.interrupt();
          oracle.failed("C3", thread.name() + " does not return from the store");
        }
      }
    }
  }

  private static long alive(List<InThread<Boolean>> threads) {
    return threads.stream().filter(thread -> !thread.isDone()).count();
  }

  /** Waits until it is so; not when there is no progress any more. */
  private boolean await(BooleanSupplier done, LongSupplier progress) {
    long before = progress.getAsLong();
    Deadline deadline = new Deadline(tck.patience());
    while (!done.getAsBoolean()) {
      if (deadline.isOver()) {
        tck.waits().waitedInVain();
        return false;
      }
      deadline.pause(Duration.ofMillis(2));
      long now = progress.getAsLong();
      deadline = now == before ? deadline : new Deadline(tck.patience());
      before = now;
    }
    return true;
  }

  /**
   * @param rule which is broken when one of them ends by an exception
   */
  private List<InThread<Boolean>> start(
      String name, String rule, int count, Consumer<Random> loop) {
    return IntStream.range(0, count)
        .mapToObj(
            i -> {
              Random random = new Random(seed * 31 + name.hashCode() + i);
              return new InThread<>(
                  name + " " + i, () -> runs(name, rule, () -> loop.accept(random)));
            })
        .toList();
  }

  private boolean runs(String name, String rule, Runnable loop) {
    try {
      loop.run();
    } catch (Throwable e) {
      oracle.failed(rule, name + " ended by " + e);
    }
    return true;
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
    OutboxMessage.Builder builder = StoreTests.message("k" + random.nextInt(KEYS));
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

  private void work(Random random) {
    Claim.Source store =
        keeper != null && workers.getAndIncrement() % 2 == 0 ? keeper : tck.createStore();
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
      next = settle(store, claim, decisions, returnedAt, random);
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

  private @Nullable Claim settle(
      Claim.Source store,
      Claim claim,
      Map<Long, Decision> decisions,
      long returnedAt,
      Random random) {
    long settledAt = System.nanoTime();
    Set<Long> lost;
    @Nullable Claim next = null;
    if (random.nextBoolean()) {
      Claim.Settled settled =
          retrying(() -> store.settleAndClaim(claim, decisions, request(random)));
      lost = settled.lost();
      next = settled.next();
    } else {
      lost = retrying(() -> claim.settle(decisions));
    }
    oracle.settled(claim, returnedAt, settledAt, lost, decisions);
    return next;
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
