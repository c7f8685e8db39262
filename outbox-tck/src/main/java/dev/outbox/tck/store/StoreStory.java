package dev.outbox.tck.store;

import static dev.outbox.tck.store.StoryMessages.list;
import static java.util.Objects.requireNonNull;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import dev.outbox.tck.FailsOnConflict;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.internal.OpenWork;
import dev.outbox.tck.store.StoryClaims.Held;
import dev.outbox.tck.store.StoryClaims.Take;
import dev.outbox.tck.store.StoryClaims.Verdict;
import dev.outbox.tck.store.StoryMessages.StoryMessage;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Steps, played on a store and on the reference, {@link StoryMessages}, and what is compared.
 *
 * <p>Where the contract determines the result, both must have the same duplicates, the same losses
 * that a settle or a renewal reports, the same dead letters with their attempts and errors, and as
 * many messages. In the end both must have the same messages left. Where it leaves a choice, as in
 * which keys a claim brings, the store's choice must be one that the reference allows at that
 * moment, and the reference follows it:
 *
 * <ul>
 *   <li>Of each key that a claim brings, it brings what is due there from the oldest on, and nobody
 *       holds the key. Only messages that were delayed, requeued or committed late may come before
 *       their place or after it.
 *   <li>Behind messages that have not failed, one whose retry is due may come along, and those
 *       behind it. In the reference it comes alone.
 *   <li>It may bring nothing while anything is held, because leases may cover more than the claimed
 *       keys. While nothing is, it must bring something if something is due. A message that was
 *       requeued or committed late before one that waits for its retry may wait with it.
 *   <li>A key whose lease has ended may be lost if something was claimed since, if that was of
 *       other keys; it must be if it was of this one. What was once lost stays lost.
 *   <li>Attempts may be counted at a claim where crashes were many (S6). If so, and that claim was
 *       lost too, its messages have one more, once.
 * </ul>
 *
 * <p>Of a key one message at a time waits for its retry or halts its key: a relay stops at the
 * first failure of a key. What becomes of two is not asked here, because stores may remember one
 * wait a key.
 *
 * <p>Hours pass at a step, and a minute more, so that what the clock of a test does meanwhile
 * decides nothing.
 */
final class StoreStory<T> extends StoreTests<T> implements AutoCloseable {
  /** Dedup keys are remembered for longer than the time of one step and shorter than two. */
  static final Duration DEDUP_WINDOW = Duration.ofHours(2);

  private final @Nullable MovesClock clock;
  private final List<String> names;
  final StoryMessages messages;
  private final StoryClaims<T> workers;

  /** The transactions that stay open. */
  private final Map<Integer, Open<T>> open = new TreeMap<>();

  private int places;

  /**
   * @param names of keys
   * @param clock null when time cannot pass
   * @param dedupWindow what the store's is
   * @param seen counts what happened that was worth a story
   */
  StoreStory(
      PatientFixture<T> tck,
      List<String> names,
      @Nullable MovesClock clock,
      Duration dedupWindow,
      Map<String, Integer> seen) {
    super(tck);
    this.clock = clock;
    this.names = names;
    messages = new StoryMessages(dedupWindow, seen);
    workers = new StoryClaims<>(tck, messages);
  }

  /**
   * What may happen next. Random numbers of its own choose among what is there at that moment, so
   * that steps keep a meaning when those before them are left out; a step that has none then does
   * nothing.
   */
  record Step(Kind kind, long seed) {

    enum Kind {
      APPENDS(9, "A1"),
      ENDS_A_TRANSACTION(2, "A1"),
      CLAIMS(9, "S2"),
      SETTLES(6, "S2"),
      SETTLES_AND_CLAIMS(3, "S2"),
      SETTLES_AGAIN(1, "S1"),
      RENEWS(1, "S2"),
      TIME_PASSES(7, "S2"),
      DECIDES_ON_A_DEAD_LETTER(3, "O3"),
      HOUSEKEEPS(1, "S2");

      private final int weight;

      /** Broken when, after this step, there are not as many messages as should be. */
      final String rule;

      Kind(int weight, String rule) {
        this.weight = weight;
        this.rule = rule;
      }
    }

    /** Any step, what happens often more often. */
    static Step any(Random random) {
      int[] weights = Stream.of(Kind.values()).mapToInt(kind -> kind.weight).toArray();
      return new Step(Kind.values()[one(random, weights)], random.nextLong());
    }
  }

  /**
   * @param weights how often each number comes, from 0 on
   */
  static int one(Random random, int... weights) {
    int left = random.nextInt(IntStream.of(weights).sum());
    int number = 0;
    while (left >= weights[number]) {
      left -= weights[number];
      number++;
    }
    return number;
  }

  /** Of a lease, or that pass. */
  static int hours(Random random) {
    return 1 + random.nextInt(3);
  }

  // ---- steps

  void play(Step step) {
    messages.rule = step.kind().rule;
    if (plays(step.kind(), new Random(step.seed()))) {
      compare();
    }
  }

  /** Says whether it changes what is compared. */
  private boolean plays(Step.Kind kind, Random random) {
    return switch (kind) {
      case APPENDS -> append(random);
      case ENDS_A_TRANSACTION -> end(1 + random.nextInt(2), one(random, 3, 1) == 0);
      case CLAIMS -> {
        workers.take(Take.any(random));
        yield false;
      }
      case SETTLES ->
          any(workers.unsettled(), random, held -> workers.settle(held, Verdict.some(random)));
      case SETTLES_AND_CLAIMS ->
          any(
              workers.unsettled(),
              random,
              held -> workers.settleAndTake(held, Verdict.some(random), Take.any(random)));
      case SETTLES_AGAIN -> any(workers.settled(), random, workers::settleAgain);
      case RENEWS -> any(workers.unsettled(), random, held -> workers.renew(held, hours(random)));
      case TIME_PASSES -> letPass(hours(random));
      case DECIDES_ON_A_DEAD_LETTER ->
          any(messages.dead(), random, letter -> decide(letter, random.nextBoolean()));
      case HOUSEKEEPS -> {
        messages.say("housekeeping");
        store().housekeep();
        yield true;
      }
    };
  }

  private static <R> boolean any(List<R> some, Random random, Consumer<R> action) {
    if (!some.isEmpty()) {
      action.accept(some.get(random.nextInt(some.size())));
    }
    return !some.isEmpty();
  }

  /**
   * Not while a transaction is open: what it has written is not seen by others, and cannot be made
   * older.
   */
  private boolean letPass(int hours) {
    if (clock == null || !open.isEmpty()) {
      return false;
    }
    Duration time = Duration.ofHours(hours).plusMinutes(hours);
    messages.say("%s h pass", hours);
    clock.moveClock(time);
    messages.now = messages.now.plus(time);
    return true;
  }

  /** Only a store that lists dead letters has any. */
  private void decide(StoryMessage letter, boolean requeues) {
    if (store() instanceof DeadLetterStore letters) {
      messages.say("%s dead letter %s", requeues ? "requeue" : "discard", letter);
      check(
          requeues ? letters.requeue(letter.sequence) : letters.discard(letter.sequence),
          "O3: the store says that message %s is no dead letter",
          letter);
      messages.decide(letter, requeues);
      if (requeues) {
        messages.saw("requeue");
      }
    }
  }

  private void compare() {
    if (store() instanceof DeadLetterStore store) {
      List<String> actual = new ArrayList<>();
      for (DeadLetter letter : store.deadLetters(0, 1_000)) {
        StoryMessage message = messages.known(letter.message());
        String failed = letter.failedAt() == null ? ", at no time" : "";
        actual.add(dead(message, letter.message().attempts(), letter.error() + failed));
      }
      List<String> expected =
          messages.dead().stream().map(m -> dead(m, m.attempts + m.counted, m.error)).toList();
      check(
          actual.equals(expected),
          "S2: the dead letters are %s instead of %s",
          list(actual),
          list(expected));
    }
    if (store() instanceof StatisticsStore statistics) {
      compare(statistics.statistics(StatisticsStore.DEFAULT_CAP));
    }
  }

  private static String dead(StoryMessage message, int attempts, String error) {
    return "%s (attempts %s, %s)".formatted(message, attempts, error);
  }

  /**
   * Which of these a message that can go is counted as may depend on whether a claim has met it.
   */
  private void compare(Statistics actual) {
    long live = actual.pending() + actual.scheduled() + actual.blocked();
    int dead = messages.dead().size();
    long expected = messages.there().count() - dead;
    compare(messages.rule, live == expected, live, "messages instead of", expected);
    compare("S2", actual.dead() == dead, actual.dead(), "dead letters, not", dead);
    Set<String> halted = messages.keys(messages.dead().stream().filter(m -> m.blocks));
    long said = actual.haltedKeys();
    compare("O3", said == halted.size(), said, "halted keys instead of", halted.size());
    Set<String> waiting = messages.keys(messages.there().filter(m -> m.failed));
    waiting.removeAll(halted);
    said = actual.blockedKeys();
    compare(
        "O2",
        said >= waiting.size(),
        said,
        "keys that wait for a retry instead of",
        waiting.size());
  }

  private static void compare(String rule, boolean so, long actual, String what, long expected) {
    check(so, "%s: statistics count %s %s %s", rule, actual, what, expected);
  }

  // ---- producers

  private record Open<T>(OpenWork<T> actual, List<StoryMessage> appended, AtomicBoolean dedup) {}

  /** Whether something was committed. */
  boolean append(Random random) {
    int number = one(random, 4, 1, 1); // 0: one of its own, which commits; others stay open
    boolean mayHaveDedupKey = mayTakeDedupKey(number);
    List<StoryMessage> some =
        Stream.generate(() -> message(random, mayHaveDedupKey))
            .limit(1 + random.nextInt(3))
            .toList();
    boolean dedup = some.stream().anyMatch(m -> m.content.dedupKey() != null);
    messages.rule = dedup ? "A4" : messages.rule;
    messages.say(
        "transaction %sappends %s",
        number == 0 ? "" : number + " ",
        some.stream().map(StoryMessages::described).collect(Collectors.joining(", ")));
    Open<T> transaction =
        open.computeIfAbsent(
            number, n -> new Open<>(tck.open(), new ArrayList<>(), new AtomicBoolean()));
    transaction.dedup.compareAndSet(false, dedup);
    Set<UUID> actual = append(transaction.actual, some.stream().map(m -> m.content).toList());
    for (StoryMessage message : some) {
      boolean stored = !messages.isDuplicate(message, transaction.appended);
      check(
          stored != actual.contains(message.content.id()),
          stored
              ? "A4: append says that message %s is a duplicate, and it is none"
              : "A4: append does not say that message %s is a duplicate",
          message);
      if (stored) {
        transaction.appended.add(message);
      } else {
        messages.add(", " + message + " a duplicate");
        messages.saw("duplicate");
      }
    }
    if (number == 0) {
      ends(0, true);
    } else {
      messages.add(", and stays open");
    }
    return number == 0;
  }

  /** Else it would wait for another transaction; or fail, where transactions are snapshots. */
  private boolean mayTakeDedupKey(int number) {
    return open.entrySet().stream().noneMatch(e -> e.getKey() != number && e.getValue().dedup.get())
        && (number == 0 || !tck.is(FailsOnConflict.class));
  }

  private StoryMessage message(Random random, boolean mayHaveDedupKey) {
    int number = messages.number();
    UUID id = UUID.nameUUIDFromBytes(("message " + number).getBytes(StandardCharsets.UTF_8));
    OutboxMessage.Builder builder =
        message(names.get(one(random, 4, 2, 1, 1))).id(id).payload("" + number);
    switch (one(random, 7, 2, mayHaveDedupKey ? 2 : 0, 1)) {
      case 1 -> builder.deliverAfter(Duration.ofHours(1));
      case 2 -> builder.dedupKey("request");
      case 3 -> builder.unordered();
      default -> {}
    }
    return messages.add(builder.build());
  }

  /** Whether there is such a transaction. */
  boolean end(int number, boolean commits) {
    boolean isOpen = open.containsKey(number);
    if (isOpen) {
      messages.say("transaction %s %s", number, commits ? "commits" : "rolls back");
      ends(number, commits);
    }
    return isOpen;
  }

  private void ends(int number, boolean commits) {
    Open<T> transaction = requireNonNull(open.remove(number));
    if (commits) {
      transaction.actual.commit();
      transaction.appended.forEach(this::committed);
    } else {
      transaction.actual.rollback();
    }
  }

  private void committed(StoryMessage message) {
    messages.commit(message);
    if (tck.is(SequencesAtCommit.class)) {
      message.place = ++places;
    }
    if (messages.besides(message).anyMatch(m -> m.committed && m.place > message.place)) {
      message.passable = true;
      messages.saw("late commit");
    }
  }

  // ---- the end

  /** Everything that was appended and is not gone comes, and after it what was dead. */
  void finish() {
    messages.rule = "A1";
    List.copyOf(open.keySet()).forEach(number -> end(number, true));
    compare();
    if (!letPass(1_000)) {
      workers.unsettled().forEach(held -> settle(held, Verdict.NONE));
    }
    drain(workers.claims.size() + messages.size());
    if (store() instanceof DeadLetterStore) {
      messages.dead().forEach(letter -> decide(letter, true));
      compare();
      drain(workers.claims.size() + messages.size());
    }
  }

  private void settle(Held held, Verdict verdict) {
    workers.settle(held, List.of(verdict));
    compare();
  }

  private void drain(int most) {
    int came = 0;
    for (Held held = take(); held != null; held = take()) {
      settle(held, Verdict.DELIVERED);
      check(++came <= most, "S2: delivered messages come again and again");
    }
    if (clock != null) {
      for (String key : messages.keys(messages.there())) {
        List<StoryMessage> left = messages.due(key);
        check(
            left.isEmpty(),
            "C6: the claim is empty, though %s of key %s may come",
            list(left),
            shown(key));
      }
    }
    messages.lines.remove(messages.lines.size() - 1); // the last claim, which brought nothing
  }

  private @Nullable Held take() {
    return workers.take(new Take(1, 100, 3));
  }

  @Override
  public void close() {
    open.values().forEach(transaction -> transaction.actual.close());
  }
}
