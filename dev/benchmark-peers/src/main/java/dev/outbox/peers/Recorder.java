package dev.outbox.peers;

import java.time.Duration;
import java.util.BitSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Stands for the broker of one run: keeps what it was given, looks whether the order of each key
 * held, and fails now and then. What it refuses it has not got. Safe for use by many threads.
 */
final class Recorder {
  private final int failEach;
  private final Consumer<OrderPlaced> before;

  /** Of each key, the numbers of the messages that have arrived. */
  private final Map<String, BitSet> keys = new ConcurrentHashMap<>();

  private final Map<String, Long> times = new ConcurrentHashMap<>();
  private final Set<String> refused = ConcurrentHashMap.newKeySet();
  private final AtomicInteger outOfOrder = new AtomicInteger();
  private final AtomicInteger twice = new AtomicInteger();
  private final CountDownLatch called = new CountDownLatch(1);
  private final CountDownLatch gate = new CountDownLatch(1);
  private volatile long last;
  private volatile boolean closed;

  /**
   * @param failEach refuses each so many-th message of a key, once; 0: none
   */
  Recorder(int failEach) {
    this(failEach, message -> {});
  }

  /**
   * One that is open from the beginning.
   *
   * @param before gets each message first, each time; what it throws refuses the message
   */
  Recorder(Consumer<OrderPlaced> before) {
    this(0, before);
    open();
  }

  private Recorder(int failEach, Consumer<OrderPlaced> before) {
    this.failEach = failEach;
    this.before = before;
  }

  /** It failed; the message has to come again. */
  static final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Refused(String message) {
      super(message, null, false, false);
    }
  }

  /** Waits at the gate until it is open. */
  void accept(OrderPlaced message) {
    called.countDown();
    try {
      gate.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Refused("interrupted");
    }
    if (closed) {
      throw new Refused("the run is over");
    }
    before.accept(message);
    String id = message.id();
    if (failEach > 0 && (message.number() + 1) % failEach == 0 && refused.add(id)) {
      throw new Refused("on purpose");
    }
    BitSet numbers = keys.computeIfAbsent(message.key(), k -> new BitSet());
    synchronized (numbers) {
      if (numbers.get(message.number())) {
        twice.incrementAndGet();
        return;
      }
      if (numbers.length() > message.number()) {
        outOfOrder.incrementAndGet();
      }
      numbers.set(message.number());
    }
    long now = System.nanoTime();
    last = now;
    times.put(id, now);
  }

  void open() {
    gate.countDown();
  }

  void close() {
    closed = true;
    open();
  }

  /** Waits for the first message, which waits at the gate. */
  boolean awaitCall(Duration patience) throws InterruptedException {
    return called.await(patience.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** How many messages have arrived, each counted once. */
  long arrived() {
    return times.size();
  }

  /** When the last one did, as {@link System#nanoTime}. */
  long last() {
    return last;
  }

  /** When each message did, as {@link System#nanoTime}, by {@link OrderPlaced#id}. */
  Map<String, Long> times() {
    return times;
  }

  /** Messages that arrived after a later one of their key. */
  int outOfOrder() {
    return outOfOrder.get();
  }

  /** Arrivals of messages that were there already. */
  int twice() {
    return twice.get();
  }
}
