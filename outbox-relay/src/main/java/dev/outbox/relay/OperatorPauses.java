package dev.outbox.relay;

import static java.util.stream.Collectors.toUnmodifiableMap;

import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.PauseStore.Pause;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What operators have paused (F3). The store is asked at most once a second, by a worker that is
 * about to publish, or that waits because all is paused: not by claims, and not while there is
 * nothing to publish. What cannot be read stays as it was.
 *
 * <p>While all is paused nobody claims. A message of a paused type is set aside as if its
 * destination were away, without counting, and looked at again after a second; where that would be
 * more than {@value #LOOKS_PER_SECOND} messages a second, later, after {@value #MOST_SECONDS}
 * seconds at most. So a pause of any length costs little, and its end is noticed soon.
 */
final class OperatorPauses {
  static final long READ_AGAIN = Duration.ofSeconds(1).toNanos();
  private static final int LOOKS_PER_SECOND = 200;
  private static final int MOST_SECONDS = 30;
  private static final long STEP = Duration.ofSeconds(1).toNanos() / LOOKS_PER_SECOND;
  private static final long LONGEST = Duration.ofSeconds(MOST_SECONDS).toNanos();

  private final String relay;
  private final @Nullable PauseStore store;
  private final RelayListener listener;
  private final LongSupplier clock;
  private final ReentrantLock lock = new ReentrantLock();

  /** By {@link PauseStore#name}. */
  private volatile Map<String, Pause> known = Map.of();

  private volatile long readAt;
  private long lastLook;

  /**
   * @param store null: nothing is ever paused
   * @param clock as {@link System#nanoTime}
   */
  OperatorPauses(
      String relay, @Nullable PauseStore store, RelayListener listener, LongSupplier clock) {
    this.relay = relay;
    this.store = store;
    this.listener = listener;
    this.clock = clock;
    readAt = clock.getAsLong() - READ_AGAIN;
    lastLook = clock.getAsLong();
  }

  /** Whether nobody is to claim. Asks the store only while that is so. */
  boolean areOfAll() {
    return known.containsKey(PauseStore.name(null)) && readAgain();
  }

  /**
   * Asks the store, unless it was asked less than a second ago. To be called before something is
   * published.
   *
   * @return whether all is paused
   */
  boolean readAgain() {
    if (store != null && isOld()) {
      List<RelayEvent> news = new ArrayList<>();
      lock.lock();
      try {
        if (isOld()) {
          news = read(store);
        }
      } finally {
        lock.unlock();
      }
      news.forEach(listener::on);
    }
    return known.containsKey(PauseStore.name(null));
  }

  private boolean isOld() {
    return clock.getAsLong() - readAt >= READ_AGAIN;
  }

  private List<RelayEvent> read(PauseStore from) {
    Map<String, Pause> before = known;
    List<RelayEvent> news = new ArrayList<>();
    try {
      known =
          from.pauses().stream()
              .collect(
                  toUnmodifiableMap(
                      pause -> PauseStore.name(pause.aggregateType()), Function.identity()));
      before.forEach(
          (name, pause) -> {
            if (!known.containsKey(name)) {
              news.add(new RelayEvent.Resumed(relay, pause));
            }
          });
      known.forEach(
          (name, pause) -> {
            if (!pause.equals(before.get(name))) {
              news.add(new RelayEvent.Paused(relay, pause));
            }
          });
    } catch (Throwable e) { // a settle meets it, too, or the next reading
      news.add(new RelayEvent.StoreFailed(relay, "pauses", Survival.asRuntimeException(e)));
    }
    readAt = clock.getAsLong();
    return news;
  }

  /** The decision on a message that must wait, or null when nothing has paused it. */
  @Nullable Decision before(StoredMessage message) {
    Map<String, Pause> paused = known;
    String type = message.aggregateType();
    if (paused.isEmpty() || type == null) {
      return null;
    }
    Pause pause = paused.get(type);
    return pause == null
        ? null
        : Decision.retryUncounted(nextLook(), "not tried: " + pause.sentence());
  }

  private Duration nextLook() {
    lock.lock();
    try {
      long now = clock.getAsLong();
      lastLook = now + Math.max(READ_AGAIN, Math.min(lastLook + STEP - now, LONGEST));
      return Duration.ofNanos(lastLook - now);
    } finally {
      lock.unlock();
    }
  }
}
