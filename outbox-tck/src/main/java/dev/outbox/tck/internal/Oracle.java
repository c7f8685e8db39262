package dev.outbox.tck.internal;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * Knows what producers and workers did, and from that what must not have happened. Tell it what is
 * done, in the order given with each method; ask it for {@link #violations} by rule. For many
 * threads of one JVM.
 *
 * <p>It proves by what is certain only. A claim certainly was live from its return until the begin
 * of a settle that lost nothing of it, because else another would have taken over. Order is that of
 * appends to a key, so producers must serialise their writes to a key (O5) from {@link #appending}
 * until after their commit. Messages that are delayed or die are left out of it.
 */
public final class Oracle {

  private static final class Life {
    final String key;
    final int order;
    final boolean delayed;
    boolean committed;
    boolean rolledBack;
    boolean claimed;
    boolean delivered;
    boolean dead;

    /** The number of a later one of its key that was delivered before; 0: none. */
    int overtakenBy;

    long goneSince = Long.MAX_VALUE;

    Life(String key, int order, boolean delayed) {
      this.key = key;
      this.order = order;
      this.delayed = delayed;
    }

    @Override
    public String toString() {
      return "number %s of key %s".formatted(order, key);
    }

    boolean isDone() {
      return !committed || delivered || dead;
    }
  }

  private record Held(long from, long until, String by) {}

  private final Map<UUID, Life> lives = new LinkedHashMap<>();
  private final Map<String, Integer> appends = new HashMap<>();
  private final Map<String, Integer> lastDelivered = new HashMap<>();
  private final Map<String, List<Held>> held = new HashMap<>();
  private final Map<String, List<String>> violations = new LinkedHashMap<>();
  private int open;

  /** Before the append, in the order of appends to the key. */
  public synchronized void appending(OutboxMessage message) {
    int order = appends.merge(message.key(), 1, Integer::sum);
    boolean delayed = message.deliverAfter() != null || message.availableAt() != null;
    lives.put(message.id(), new Life(message.key(), order, delayed));
  }

  /** After the commit of messages that were not duplicates. */
  public synchronized void committed(Collection<OutboxMessage> messages) {
    for (OutboxMessage message : messages) {
      Life life = life(message.id());
      life.committed = true;
      open += life.isDone() ? 0 : 1;
    }
  }

  /** After the rollback of messages, and for duplicates. */
  public synchronized void notStored(Collection<OutboxMessage> messages) {
    messages.forEach(message -> life(message.id()).rolledBack = true);
  }

  /**
   * After a claim returned.
   *
   * @param calledAt {@link System#nanoTime} before the claim was called
   */
  public synchronized void claimed(Claim claim, long calledAt) {
    Map<String, Integer> last = new HashMap<>();
    for (StoredMessage message : claim.messages()) {
      Life life = lives.get(message.message().id());
      if (life == null) {
        failed("A1", message + " was claimed and never appended");
        continue;
      }
      life.claimed = true;
      if (life.goneSince < calledAt) {
        failed("S2", life + " was claimed after it was settled as delivered or dead");
      }
      Integer before = life.delayed ? null : last.put(life.key, life.order);
      if (before != null && before > life.order) {
        failed("C2", life + " came behind a later message of its key in one claim");
      }
    }
  }

  /** Before a message is handed to the broker that will take it. */
  public synchronized void delivering(StoredMessage message) {
    Life life = lives.get(message.message().id());
    if (life == null || life.delivered) {
      return;
    }
    open -= life.isDone() ? 0 : 1;
    life.delivered = true;
    if (!life.delayed && !life.dead) {
      int last = lastDelivered.merge(life.key, life.order, Math::max);
      if (last > life.order) {
        life.overtakenBy = last;
      }
    }
  }

  /**
   * After a settle returned.
   *
   * @param returnedAt {@link System#nanoTime} after the claim had returned
   * @param settledAt the same before settle was called
   * @param lost what settle returned
   */
  public synchronized void settled(
      Claim claim, long returnedAt, long settledAt, Set<Long> lost, Map<Long, Decision> decisions) {
    long now = System.nanoTime();
    Map<String, List<Integer>> keys = new LinkedHashMap<>();
    for (StoredMessage message : claim.messages()) {
      Life life = lives.get(message.message().id());
      if (lost.contains(message.sequence()) || life == null) {
        continue;
      }
      keys.computeIfAbsent(message.key(), k -> new ArrayList<>()).add(life.order);
      Decision decision = decisions.get(message.sequence());
      if (decision instanceof Decision.Dead) {
        open -= life.isDone() ? 0 : 1;
        life.dead = true;
      }
      if (decision instanceof Decision.Dead || decision instanceof Decision.Delivered) {
        life.goneSince = Math.min(life.goneSince, now);
      }
    }
    String worker = Thread.currentThread().getName();
    keys.forEach(
        (key, numbers) ->
            held.computeIfAbsent(key, k -> new ArrayList<>())
                .add(
                    new Held(returnedAt, settledAt, "%s had %s".formatted(worker, list(numbers)))));
  }

  /** A rule is broken, as when an operation fails that must not. */
  public synchronized void failed(String rule, String what) {
    violations.computeIfAbsent(rule, r -> new ArrayList<>()).add(what);
  }

  /** How many committed messages are neither delivered nor dead. */
  public synchronized int open() {
    return open;
  }

  /** What broke the rule: sentences, at most some tens. To be asked when all is done. */
  public synchronized List<String> violations(String rule) {
    List<String> all = new ArrayList<>(violations.getOrDefault(rule, List.of()));
    for (Life life : lives.values()) {
      if (rule.equals("A1") && life.claimed && life.rolledBack) {
        all.add(life + " was claimed and not committed");
      } else if (rule.equals("S4") && !life.isDone()) {
        all.add(
            "%s is lost: committed, %s, not delivered"
                .formatted(life, life.claimed ? "claimed" : "never claimed"));
      } else if (rule.equals("O1") && life.overtakenBy > 0 && !life.dead) {
        // Whoever made it a dead letter may tell so after a worker that had stood still.
        all.add("%s was first delivered after number %s".formatted(life, life.overtakenBy));
      }
    }
    if (rule.equals("C1")) {
      held.forEach((key, list) -> overlaps(key, list, all));
    }
    return all.subList(0, Math.min(50, all.size()));
  }

  private static void overlaps(String key, List<Held> list, List<String> violations) {
    list.sort(Comparator.comparingLong(Held::from));
    for (int i = 1; i < list.size(); i++) {
      Held before = list.get(i - 1);
      Held after = list.get(i);
      if (after.from() < before.until()) {
        violations.add(
            "key %s was in two live claims for %s µs: %s, and %s, of its messages"
                .formatted(
                    key,
                    (Math.min(before.until(), after.until()) - after.from()) / 1_000,
                    before.by(),
                    after.by()));
      }
    }
  }

  private static String list(List<Integer> numbers) {
    return numbers.stream().map(String::valueOf).collect(Collectors.joining(", "));
  }

  private Life life(UUID id) {
    Life life = lives.get(id);
    if (life == null) {
      throw new IllegalStateException("message " + id + " was not announced with appending()");
    }
    return life;
  }
}
