package dev.outbox.relay;

import dev.outbox.OutboxException;
import dev.outbox.PermanentOutboxException;
import dev.outbox.Texts;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.InspectionStore.Query;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.InspectionStore.WaitingKey;
import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.PauseStore.Pause;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import dev.outbox.spi.store.StatisticsStore.WorkerLease;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How an outbox is: whether it delivers, and what is wrong, each with what to do. All that shows an
 * outbox to people gets its words from here: the commands, the page and health.
 *
 * @param at when it was read, by this machine's clock
 * @param leases nothing: the store cannot say
 * @param pauses what operators have paused, as far as it can be read
 * @param delivery whether what waits is delivered
 * @param others what else was looked at, first what keeps messages, then what the store has found
 */
public record Diagnosis(
    Instant at,
    Statistics statistics,
    Optional<List<WorkerLease>> leases,
    List<Pause> pauses,
    Finding delivery,
    List<Finding> others) {

  /** {@link Finding#what} of a key that waits for somebody's decision (O3). */
  public static final String HALTED_KEY = "halted key";

  /** {@link Finding#what} of a key that waits for a retry. */
  public static final String FAILED_KEY = "failed key";

  /** {@link Finding#what} of what operators have paused. */
  public static final String PAUSED = "paused";

  /** {@link Finding#what} of dead letters. */
  public static final String DEAD_LETTERS = "dead letters";

  /** The least time between two readings that tell whether anything moves. */
  public static final Duration APART = Duration.ofSeconds(10);

  private static final String DELIVERY = "delivery";
  private static final String START = "outbox relay --config relay.properties";

  /** The most halted keys that are named. */
  private static final int MOST_KEYS = 10;

  /** The most keys that are looked at to tell those that are paused from those that have failed. */
  private static final int MOST_PAUSED = 100;

  /** A relay takes what is free at once; its pauses in an outage of the broker are shorter. */
  private static final Duration LONG = Duration.ofMinutes(1);

  /** Readings of two clocks differ by less. */
  private static final Duration NOTHING = Duration.ofSeconds(1);

  /** All that was found: {@link #delivery}, then the others. */
  public List<Finding> findings() {
    return Stream.concat(Stream.of(delivery), others.stream()).toList();
  }

  /** Since when the oldest free message is due; null: there was none. */
  private @Nullable Instant oldestSince() {
    Duration oldest = statistics.oldestFree();
    return oldest == null ? null : at.minus(oldest);
  }

  /**
   * Reads, with a store that is an {@link InspectionStore} or {@link DeadLetterStore} also keys and
   * dead letters, and judges.
   *
   * @param cap of the counts, at least 1
   * @param earlier what was read before, the oldest first: the last that is old enough says whether
   *     anything moves; without one nobody knows
   * @throws dev.outbox.OutboxException when the database cannot be asked
   */
  public static Diagnosis of(
      StatisticsStore store, int cap, Instant now, Collection<Diagnosis> earlier) {
    Instant before = null;
    for (Diagnosis one : earlier) {
      before = one.at.plus(APART).isAfter(now) ? before : one.oldestSince();
    }
    return since(store, cap, now, before);
  }

  /**
   * @param oldestBefore since when the oldest free message was due at an earlier reading; null:
   *     there was none, and nobody knows whether anything moves
   */
  static Diagnosis since(
      StatisticsStore store, int cap, Instant now, @Nullable Instant oldestBefore) {
    Statistics statistics = store.statistics(cap);
    Optional<List<WorkerLease>> leases = store.leases();
    boolean holds = leases.map(held -> !held.isEmpty()).orElse(true);
    boolean isAlone = Integer.valueOf(0).equals(statistics.relays()) && !holds;
    List<Finding> others = new ArrayList<>();
    if (statistics.relays() != null) {
      others.add(
          isAlone
              ? Finding.warning("relays", "no relay lives", START)
              : Finding.fine("relays", statistics.relays() + " live"));
    }
    List<Pause> pauses = List.of();
    try {
      pauses = store instanceof PauseStore able ? able.pauses() : pauses;
    } catch (OutboxException e) { // as without the right to read them
      others.add(Finding.problem(PAUSED, "it cannot be read: " + e.getMessage(), null));
    }
    pauses.stream()
        .filter(pause -> pause.aggregateType() != null)
        .forEach(pause -> others.add(paused(PAUSED, pause)));
    Optional<WaitingKey> failed = Optional.empty();
    Duration blocked = statistics.oldestBlocked();
    if (store instanceof InspectionStore messages) {
      others.addAll(halted(messages, statistics));
      boolean anyPaused = !pauses.isEmpty();
      List<WaitingKey> keys = notHalted(messages, statistics, anyPaused);
      failed = keys.stream().filter(key -> !OperatorPauses.explain(key.error())).findFirst();
      failed.ifPresent(key -> others.add(failed(key, statistics, anyPaused)));
      if (failed.isEmpty() && !keys.isEmpty()) { // what was paused until now is tried soon
        blocked = null;
      } else if (failed.isPresent() && anyPaused && isLong(blocked)) { // or is it what is paused?
        blocked = age(messages, failed.get(), now).orElse(blocked);
      }
    }
    Finding waiting = blocked(statistics, blocked, pauses);
    others.addAll(deadLetters(store, statistics));
    others.addAll(store.findings());
    boolean hasMoved = hasMoved(statistics, now, oldestBefore);
    Finding delivery =
        paused(store, statistics, pauses, failed)
            .orElseGet(() -> delivery(statistics, holds, isAlone, hasMoved, waiting));
    return new Diagnosis(now, statistics, leases, pauses, delivery, List.copyOf(others));
  }

  /**
   * Whether the schema is there and whole, and the server one that can be used.
   *
   * @throws dev.outbox.TransientOutboxException when the database cannot be asked now
   */
  public static Finding schema(Object store) {
    try {
      if (store instanceof SchemaStore schema) {
        schema.verify();
        return Finding.fine("schema", schema.place());
      }
      return Finding.fine("schema", "this store has none");
    } catch (PermanentOutboxException e) {
      return Finding.problem("schema", String.valueOf(e.getMessage()), null);
    }
  }

  static Finding paused(String what, Pause pause) {
    String type = pause.aggregateType();
    return Finding.warning(
        what, pause.sentence(), "outbox resume" + (type == null ? "" : " --type " + type));
  }

  /**
   * How it is where pauses explain it.
   *
   * @param failed a key that none of them explains
   */
  private static Optional<Finding> paused(
      StatisticsStore store, Statistics figures, List<Pause> pauses, Optional<WaitingKey> failed) {
    Optional<Pause> all = pauses.stream().filter(pause -> pause.aggregateType() == null).findAny();
    if (all.isPresent()) {
      return all.map(pause -> paused(DELIVERY, pause));
    }
    return pauses.isEmpty()
            || figures.oldestFree() != null
            || figures.blockedKeys() == 0
            || failed.isPresent()
            || !(store instanceof InspectionStore)
        ? Optional.empty()
        : Optional.of(
            Finding.warning(
                DELIVERY,
                "nothing to do but what is paused or halted"
                    + (figures.blockedKeys() + figures.haltedKeys() > MOST_PAUSED
                        ? ", as far as %s keys that wait tell".formatted(MOST_PAUSED)
                        : ""),
                null));
  }

  private static Finding delivery(
      Statistics figures, boolean holds, boolean isAlone, boolean hasMoved, Finding waiting) {
    Duration oldest = figures.oldestFree();
    if (oldest == null) {
      return figures.blocked() > 0 ? waiting : idle(figures);
    }
    if (isAlone) {
      return standsStill("because no relay lives", START);
    }
    if (isLong(oldest) && !holds) {
      return standsStill(
          "because no relay holds anything: none runs, or its broker is away, or its user lacks"
              + " rights",
          "outbox doctor --config relay.properties, or look into the relays' logs");
    }
    if (!isLong(oldest)) {
      return Finding.fine(DELIVERY, "delivering");
    }
    return hasMoved
        ? Finding.warning(DELIVERY, "delivering a backlog", "look again: the age should sink")
        : standsStill(
            "although relays hold it",
            "outbox doctor --config relay.properties, or look into the relays' logs");
  }

  private static Finding idle(Statistics figures) {
    return Finding.fine(
        DELIVERY,
        figures.scheduled() == 0
            ? "nothing to do"
            : "nothing to do, " + number(figures.scheduled(), figures) + " due later");
  }

  /** How it is where nothing is free. */
  private static Finding blocked(
      Statistics figures, @Nullable Duration oldest, List<Pause> pauses) {
    return figures.blockedKeys() == 0
        ? standsStill(
            "because dead letters halt all keys that wait",
            "outbox dead-letters requeue or discard, one or --all")
        : isLong(oldest)
            ? standsStill(
                pauses.isEmpty()
                    ? "because all keys that wait have failed"
                    : "because what is not paused has failed",
                "outbox keys")
            : Finding.warning(DELIVERY, "waiting for a retry", null);
  }

  private static Finding standsStill(String why, String remedy) {
    return Finding.problem(DELIVERY, "standing still " + why, remedy);
  }

  private static boolean isLong(@Nullable Duration time) {
    return time != null && time.compareTo(LONG) >= 0;
  }

  /** Whether another message is the oldest now. */
  private static boolean hasMoved(Statistics figures, Instant now, @Nullable Instant before) {
    Duration oldest = figures.oldestFree();
    return before == null || oldest == null || before.plus(NOTHING).isBefore(now.minus(oldest));
  }

  private static List<Finding> halted(InspectionStore store, Statistics figures) {
    List<Finding> found = new ArrayList<>();
    if (figures.haltedKeys() > 0) {
      store.waitingKeys(true, null, MOST_KEYS).found().forEach(key -> found.add(halted(key)));
      if (figures.haltedKeys() > found.size()) {
        found.add(
            Finding.problem(
                HALTED_KEY,
                number(figures.haltedKeys(), figures) + " keys are halted in all",
                "outbox keys --halted"));
      }
    }
    return found;
  }

  /** Keys that wait for a retry or for the end of a pause: those among the first that wait. */
  private static List<WaitingKey> notHalted(
      InspectionStore store, Statistics figures, boolean anyPaused) {
    return figures.blockedKeys() == 0
        ? List.of()
        : store.waitingKeys(false, null, anyPaused ? MOST_PAUSED : MOST_KEYS).found().stream()
            .filter(key -> !key.halted())
            .toList();
  }

  /** How long the message at the head of a key has been due. */
  private static Optional<Duration> age(InspectionStore store, WaitingKey key, Instant now) {
    Query first = new Query(Status.BLOCKED, null, key.key(), null, null, null, null, null, null, 1);
    return store.messages(first).found().stream()
        .flatMap(
            head -> Stream.of(Optional.ofNullable(head.dueAt()), Optional.of(head.appendedAt())))
        .flatMap(Optional::stream)
        .filter(time -> !time.isAfter(now)) // some stores say when it is tried again
        .max(Comparator.naturalOrder())
        .map(due -> Duration.between(due, now));
  }

  private static Finding halted(WaitingKey key) {
    return Finding.problem(
        HALTED_KEY,
        "key %s is halted by dead letter %s, %s%s behind it%s"
            .formatted(
                key.key(),
                key.behind(),
                key.waiting(),
                key.waiting() == InspectionStore.MOST_BEHIND ? " or more" : "",
                error(key.error())),
        decide(key.behind()));
  }

  private static Finding failed(WaitingKey key, Statistics figures, boolean anyPaused) {
    long all = figures.blockedKeys();
    return Finding.warning(
        FAILED_KEY,
        "%s waiting for a retry%s, as key %s behind message %s, tried %s times%s"
            .formatted(
                all == 1 ? "1 key is" : number(all, figures) + " keys are",
                anyPaused ? " or for the end of a pause" : "",
                key.key(),
                key.behind(),
                key.attempts(),
                error(key.error())),
        "outbox messages show " + key.behind());
  }

  private static List<Finding> deadLetters(StatisticsStore store, Statistics figures) {
    if (figures.dead() == 0) {
      return List.of();
    }
    String all =
        figures.dead() == 1
            ? "1 dead letter waits for a decision"
            : number(figures.dead(), figures) + " dead letters wait for a decision";
    List<DeadLetter> first =
        store instanceof DeadLetterStore letters ? letters.deadLetters(0, 1) : List.of();
    if (first.isEmpty()) {
      return List.of(Finding.warning(DEAD_LETTERS, all, "outbox dead-letters list"));
    }
    StoredMessage message = first.get(0).message();
    return List.of(
        Finding.warning(
            DEAD_LETTERS,
            "%s, as %s of key %s%s"
                .formatted(all, message.sequence(), message.key(), error(first.get(0).error())),
            decide(message.sequence()) + "; outbox dead-letters list names all"));
  }

  private static String decide(long sequence) {
    return "outbox dead-letters requeue %1$s, or outbox dead-letters discard %1$s"
        .formatted(sequence);
  }

  private static String error(@Nullable String error) {
    return error == null ? "" : " (" + Texts.clean(error) + ")";
  }

  private static String number(long number, Statistics figures) {
    return number + (figures.isAtCap(number) ? " or more" : "");
  }
}
