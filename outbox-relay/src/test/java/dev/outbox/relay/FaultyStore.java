package dev.outbox.relay;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.memory.MemoryOutboxStore;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A memory store whose operations can be made to fail before or after they were carried out, and
 * which hands out messages of event type "damaged" as undecodable.
 */
class FaultyStore extends MemoryOutboxStore {
  static final Runnable NOTHING = () -> {};

  volatile Runnable beforeClaim = NOTHING;
  volatile Runnable beforeRenew = NOTHING;
  volatile Runnable beforeSettle = NOTHING;
  volatile Runnable afterSettle = NOTHING;

  /** Whether what a relay holds is held from claim to claim, past the operations that fail. */
  volatile boolean keeps;

  /** Whether claims that bring something say that there is more. */
  volatile boolean hasMore;

  /** What settle was given each time. */
  final List<Map<Long, Decision>> decisions = new CopyOnWriteArrayList<>();

  final AtomicInteger claims = new AtomicInteger();
  final AtomicInteger renewals = new AtomicInteger();
  final AtomicInteger settles = new AtomicInteger();

  FaultyStore() {}

  FaultyStore(InstantSource clock) {
    super(clock, DEFAULT_DEDUP_WINDOW);
  }

  /** Throws the first n times. */
  static Runnable failing(int n, RuntimeException error) {
    AtomicInteger left = new AtomicInteger(n);
    return () -> {
      if (left.getAndDecrement() > 0) {
        throw error;
      }
    };
  }

  /** Appends one message an event, in a transaction of its own. */
  void append(String key, String... events) {
    for (String event : events) {
      inTransaction(t -> append(t, Samples.message(key, event)));
    }
  }

  @Override
  public Keeper keeper(Duration unclaimed) {
    return keeps ? super.keeper(unclaimed) : Keeper.ofNothing(this);
  }

  @Override
  public Claim claim(Claim.Request request) {
    claims.incrementAndGet();
    beforeClaim.run();
    Claim claim = super.claim(request);
    List<StoredMessage> messages = claim.messages().stream().map(FaultyStore::damage).toList();
    return new Claim() {
      @Override
      public List<StoredMessage> messages() {
        return messages;
      }

      @Override
      public boolean pollAgain() {
        return hasMore && !messages.isEmpty();
      }

      @Override
      public Set<Long> renew(Duration lease) {
        renewals.incrementAndGet();
        beforeRenew.run();
        return claim.renew(lease);
      }

      @Override
      public Set<Long> settle(Map<Long, Decision> decisions) {
        settles.incrementAndGet();
        FaultyStore.this.decisions.add(decisions);
        beforeSettle.run();
        Set<Long> lost = claim.settle(decisions);
        afterSettle.run();
        return lost;
      }
    };
  }

  private static StoredMessage damage(StoredMessage m) {
    return m.problem() == null && m.message().eventType().equals("damaged")
        ? StoredMessage.undecodable(
            m.sequence(),
            m.key(),
            m.aggregateType(),
            m.attempts(),
            m.createdAt(),
            "headers are not JSON")
        : m;
  }
}
