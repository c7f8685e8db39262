package dev.outbox.tck.store;

import static dev.outbox.tck.store.Step.hours;
import static dev.outbox.tck.store.Step.one;
import static dev.outbox.tck.store.StoryLog.list;

import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.store.Step.Verdict;
import dev.outbox.tck.store.StoryClaims.Held;
import dev.outbox.tck.store.StoryClaims.Take;
import dev.outbox.tck.store.StoryMessages.StoryMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
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
  private final StoryLog log;
  private final StoryMessages messages;
  private final StoryProducers<T> producers;
  private final StoryClaims<T> claims;

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
    log = new StoryLog(seen);
    messages = new StoryMessages(dedupWindow);
    producers = new StoryProducers<>(tck, log, messages, names);
    claims = new StoryClaims<>(tck, log, messages);
  }

  /** What happened, a line each. */
  List<String> lines() {
    return log.lines();
  }

  // ---- steps

  void play(Step step) {
    log.rule = step.kind().rule;
    if (plays(step.kind(), new Random(step.seed()))) {
      compare();
    }
  }

  /** Says whether it changes what is compared. */
  private boolean plays(Step.Kind kind, Random random) {
    return switch (kind) {
      case APPENDS -> producers.append(random);
      case ENDS_A_TRANSACTION -> producers.end(1 + random.nextInt(2), one(random, 3, 1) == 0);
      case CLAIMS -> {
        Held ignored = claims.take(Take.any(random));
        yield false;
      }
      case SETTLES ->
          any(claims.unsettled(), random, held -> claims.settle(held, Verdict.some(random)));
      case SETTLES_AND_CLAIMS ->
          any(
              claims.unsettled(),
              random,
              held -> claims.settleAndTake(held, Verdict.some(random), Take.any(random)));
      case SETTLES_AGAIN -> any(claims.settled(), random, claims::settleAgain);
      case RENEWS -> any(claims.unsettled(), random, held -> claims.renew(held, hours(random)));
      case TIME_PASSES -> letPass(hours(random));
      case DECIDES_ON_A_DEAD_LETTER ->
          any(messages.dead(), random, letter -> decide(letter, random.nextBoolean()));
      case HOUSEKEEPS -> {
        log.say("housekeeping");
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
    if (clock == null || !producers.openOnes().isEmpty()) {
      return false;
    }
    Duration time = Duration.ofHours(hours).plusMinutes(hours);
    log.say("%s h pass", hours);
    clock.moveClock(time);
    messages.letPass(time);
    return true;
  }

  /** Only a store that lists dead letters has any. */
  private void decide(StoryMessage letter, boolean requeues) {
    if (store() instanceof DeadLetterStore letters) {
      log.say("%s dead letter %s", requeues ? "requeue" : "discard", letter);
      check(
          requeues ? letters.requeue(letter.sequence) : letters.discard(letter.sequence),
          "O3: the store says that message %s is no dead letter",
          letter);
      messages.decide(letter, requeues);
      if (requeues) {
        log.saw("requeue");
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
    compare(log.rule, live == expected, live, "messages instead of", expected);
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

  /** Everything that was appended and is not gone comes, and after it what was dead. */
  void finish() {
    log.rule = "A1";
    List.copyOf(producers.openOnes()).forEach(number -> producers.end(number, true));
    compare();
    if (!letPass(1_000)) {
      claims.unsettled().forEach(held -> settle(held, Verdict.NONE));
    }
    drain(claims.all().size() + messages.size());
    if (store() instanceof DeadLetterStore) {
      messages.dead().forEach(letter -> decide(letter, true));
      compare();
      drain(claims.all().size() + messages.size());
    }
  }

  private void settle(Held held, Verdict verdict) {
    claims.settle(held, List.of(verdict));
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
    log.unsay(); // by the last claim it is seen that nothing is left
  }

  private @Nullable Held take() {
    return claims.take(new Take(1, 100, 3));
  }

  @Override
  public void close() {
    producers.close();
  }
}
