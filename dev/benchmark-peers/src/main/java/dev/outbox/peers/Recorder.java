package dev.outbox.peers;

import dev.outbox.peers.Deliveries.Outcome;
import dev.outbox.peers.Deliveries.Seen;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Stands for the broker of one run: keeps what it was given, and fails now and then. What it
 * refuses it has not got. Safe for use by many threads.
 */
final class Recorder {
  private final Consumer<OrderPlaced> before;

  private final Queue<Seen> deliveries = new ConcurrentLinkedQueue<>();
  private final Map<String, Long> times = new ConcurrentHashMap<>();
  private final CountDownLatch called = new CountDownLatch(1);
  private final CountDownLatch gate = new CountDownLatch(1);
  private volatile long last;
  private volatile boolean closed;

  /**
   * @param before gets each message first, each time; what it throws refuses the message
   */
  Recorder(Consumer<OrderPlaced> before) {
    this.before = before;
  }

  /** One that is open from the beginning. */
  static Recorder opened(Consumer<OrderPlaced> before) {
    Recorder recorder = new Recorder(before);
    recorder.open();
    return recorder;
  }

  /** Refuses each so many-th message of a key, once. */
  static Consumer<OrderPlaced> refusingEach(int nth) {
    Set<String> refused = ConcurrentHashMap.newKeySet();
    return message -> {
      if ((message.number() + 1) % nth == 0 && refused.add(message.id())) {
        throw new Refused("on purpose");
      }
    };
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
    long now = System.nanoTime();
    deliveries.add(new Seen(message.key(), message.number(), now / 1e9));
    if (times.putIfAbsent(message.id(), now) == null) {
      last = now;
    }
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

  /** What became of them; it does not know what was committed. */
  Outcome outcome() {
    return Outcome.of(List.of(), List.copyOf(deliveries));
  }
}
