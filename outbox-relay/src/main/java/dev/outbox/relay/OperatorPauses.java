package dev.outbox.relay;

import static java.util.Objects.requireNonNullElse;
import static java.util.stream.Collectors.toUnmodifiableMap;

import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.PauseStore.Pause;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What operators have paused (F3), read at most once a second. While all is paused nobody claims. A
 * message of a paused type is set aside as if its destination were away, without counting.
 * docs/design/relay.md says when the store is asked, and when a message is looked at again.
 */
final class OperatorPauses {
  static final long READ_AGAIN = Duration.ofSeconds(1).toNanos();

  /** At most 200 messages of paused types are looked at in a second. */
  private static final long STEP = Duration.ofSeconds(1).toNanos() / 200;

  private static final long LONGEST = Duration.ofSeconds(30).toNanos();

  private static final String NOT_TRIED = "not tried: ";

  private final String relay;
  private final @Nullable PauseStore store;
  private final RelayListener listener;
  private final LongSupplier clock;
  private final ReentrantLock lock = new ReentrantLock();

  /** By {@link PauseStore#name}; null while nothing is known. */
  private volatile @Nullable Map<String, Pause> known;

  private volatile long readAt;
  private boolean hasFailed;
  private final AtomicLong lastLook;

  /**
   * @param store null: nothing is ever paused
   */
  OperatorPauses(
      String relay, @Nullable PauseStore store, RelayListener listener, LongSupplier clock) {
    this.relay = relay;
    this.store = store;
    this.listener = listener;
    this.clock = clock;
    known = store == null ? Map.of() : null;
    readAt = clock.getAsLong() - READ_AGAIN;
    lastLook = new AtomicLong(clock.getAsLong());
  }

  /** Whether nobody is to claim. Asks the store only while something is paused, or not known. */
  boolean areOfAll() throws InterruptedException {
    return !Map.of().equals(known) && readAgain();
  }

  /**
   * Asks the store, unless it was asked less than a second ago. To be called before something is
   * published.
   *
   * @return whether nothing may be published
   */
  boolean readAgain() throws InterruptedException {
    if (store != null && isOld() && mayRead()) {
      try {
        if (isOld()) {
          read(store);
        }
      } finally {
        lock.unlock();
      }
    }
    Map<String, Pause> now = known;
    return now == null || now.containsKey(PauseStore.name(null));
  }

  /** A database that hangs keeps one worker, and others only while nothing is known. */
  private boolean mayRead() throws InterruptedException {
    return known == null ? lock.tryLock(READ_AGAIN, TimeUnit.NANOSECONDS) : lock.tryLock();
  }

  private boolean isOld() {
    return clock.getAsLong() - readAt >= READ_AGAIN;
  }

  private void read(PauseStore from) {
    Map<String, Pause> before = requireNonNullElse(known, Map.of());
    try {
      Map<String, Pause> now =
          from.pauses().stream()
              .collect(
                  toUnmodifiableMap(
                      pause -> PauseStore.name(pause.aggregateType()), Function.identity()));
      known = now;
      if (hasFailed) {
        listener.on(new RelayEvent.StoreRecovered(relay));
        hasFailed = false;
      }
      before.forEach(
          (name, pause) -> {
            if (!now.containsKey(name)) {
              listener.on(new RelayEvent.Resumed(relay, pause));
            }
          });
      now.forEach(
          (name, pause) -> {
            if (!pause.equals(before.get(name))) {
              listener.on(new RelayEvent.Paused(relay, pause));
            }
          });
    } catch (Throwable e) { // the next reading meets it, too
      RelayEvent.StoreFailed failed =
          new RelayEvent.StoreFailed(relay, "pauses", SupervisedLoop.asRuntimeException(e));
      hasFailed = true;
      known = failed.isPermanent() ? null : known;
      listener.on(failed);
    }
    readAt = clock.getAsLong();
  }

  /** The decision on a message that must wait, or null when nothing has paused it. */
  @Nullable Decision before(StoredMessage message) {
    Map<String, Pause> paused = known;
    String type = message.aggregateType();
    if (paused == null || paused.isEmpty() || type == null) {
      return null;
    }
    Pause pause = paused.get(type);
    return pause == null ? null : Decision.retryUncounted(nextLook(), NOT_TRIED + pause.sentence());
  }

  /** Whether an error says that a pause kept a message, which may be over by now. */
  static boolean explain(@Nullable String error) {
    return error != null && error.startsWith(NOT_TRIED);
  }

  private Duration nextLook() {
    long now = clock.getAsLong();
    long look =
        lastLook.updateAndGet(
            last -> now + Math.max(READ_AGAIN, Math.min(last + STEP - now, LONGEST)));
    return Duration.ofNanos(look - now);
  }
}
