package dev.outbox.tck.store;

import static dev.outbox.tck.store.StoryMessages.list;
import static java.util.Objects.requireNonNull;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.tck.store.StoryMessages.StoryMessage;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What workers do in a story, and whether the reference allows it. */
final class StoryClaims<T> extends StoreTests<T> {

  /** From so many leases on that ran out, attempts may be counted at the claim. */
  private static final int SOME_CRASHES = 2;

  private final StoryMessages messages;

  /** All that brought something. */
  final List<Held> claims = new ArrayList<>();

  private int crashes;
  private int errors;

  StoryClaims(PatientFixture<T> tck, StoryMessages messages) {
    super(tck);
    this.messages = messages;
  }

  /** A decision, without its error. */
  enum Verdict {
    DELIVERED("delivered", error -> Decision.delivered()),
    NONE("not decided", error -> null),
    RETRIED("to retry at once", error -> Decision.retry(Duration.ZERO, error)),
    UNAVAILABLE(
        "to retry at once, not counted", error -> Decision.retryUncounted(Duration.ZERO, error)),
    RETRIED_IN_1_H("to retry in 1 h", error -> Decision.retry(Duration.ofHours(1), error)),
    RETRIED_IN_3_H("to retry in 3 h", error -> Decision.retry(Duration.ofHours(3), error)),
    UNAVAILABLE_FOR_1_H(
        "to retry in 1 h, not counted",
        error -> Decision.retryUncounted(Duration.ofHours(1), error)),
    DEAD("dead", Decision::dead),
    BLOCKS("dead, halts its key", Decision::deadHaltingKey);

    final String words;
    final Function<String, @Nullable Decision> decision;

    Verdict(String words, Function<String, @Nullable Decision> decision) {
      this.words = words;
      this.decision = decision;
    }

    /** Later messages of the key must wait. */
    boolean holdsBack() {
      return this != DELIVERED && this != NONE && this != DEAD;
    }

    static List<Verdict> some(Random random) {
      return Stream.generate(() -> values()[random.nextInt(values().length)])
          .limit(1 + random.nextInt(3))
          .toList();
    }
  }

  /** What a claim holds of a key. */
  static final class Grip {
    final List<StoryMessage> messages;
    Instant end;

    /** Something was claimed after its lease had ended. */
    boolean doubtful;

    boolean lost;

    Grip(List<StoryMessage> messages, Instant end) {
      this.messages = messages;
      this.end = end;
    }
  }

  static final class Held {
    final int number;
    final Claim actual;
    final List<StoryMessage> messages;
    final Map<String, Grip> grips = new LinkedHashMap<>();
    @Nullable Map<Long, Decision> decisions;

    Held(int number, Claim actual, List<StoryMessage> messages) {
      this.number = number;
      this.actual = actual;
      this.messages = messages;
    }
  }

  List<Held> unsettled() {
    return held(claim -> claim.decisions == null);
  }

  List<Held> settled() {
    return held(claim -> claim.decisions != null);
  }

  /** The latest first. */
  private List<Held> held(Predicate<Held> which) {
    List<Held> held = new ArrayList<>(claims.stream().filter(which).toList());
    Collections.reverse(held);
    return held;
  }

  record Take(int worker, int most, int hours) {
    static Take any(Random random) {
      int most = List.of(100, 3, 2, 1).get(random.nextInt(4));
      return new Take(1 + random.nextInt(2), most, StoreStory.hours(random));
    }

    Claim.Request request() {
      return new Claim.Request("worker " + worker, most, 1_000_000, Duration.ofHours(hours));
    }
  }

  /** Null when it brings nothing. */
  @Nullable Held take(Take take) {
    messages.say("claim %s", described(take));
    return follow(claim(take.request()), take);
  }

  private String described(Take take) {
    return "%s (worker %s, %s h, at most %s): "
        .formatted(claims.size() + 1, take.worker(), take.hours(), take.most());
  }

  /** Checks that the reference allows this claim, and has it there too. */
  private @Nullable Held follow(Claim actual, Take take) {
    List<StoryMessage> brought = actual.messages().stream().map(messages::known).toList();
    messages.add(list(brought));
    if (brought.isEmpty()) {
      checkNothingDue();
      return null;
    }
    check(Set.copyOf(brought).size() == brought.size(), "C2: the claim brings a message twice");
    check(brought.size() <= take.most(), "C2: the claim brings %s messages", brought.size());
    doubtWhatHasEnded();
    Held claim = new Held(claims.size() + 1, actual, brought);
    Instant end = messages.now.plus(Duration.ofHours(take.hours()));
    brought.stream()
        .collect(
            Collectors.groupingBy(m -> m.content.key(), LinkedHashMap::new, Collectors.toList()))
        .forEach(
            (key, some) -> {
              checkTakeover(key);
              checkOrder(key, some);
              claim.grips.put(key, new Grip(some, end));
            });
    actual.messages().forEach(m -> compareAttempts(messages.known(m), m.attempts()));
    claims.add(claim);
    return claim;
  }

  private void checkOrder(String key, List<StoryMessage> chosen) {
    List<StoryMessage> allowed = messages.due(key);
    List<StoryMessage> due = withoutThoseThatComeAlong(chosen, allowed);
    if (due.size() < chosen.size()) {
      messages.saw("retry comes along");
    }
    check(
        chosen.equals(StoryMessages.inOrder(chosen.stream()))
            && allowed.containsAll(due)
            && startsWith(withoutPassable(allowed), withoutPassable(due)),
        "%s: the claim brings %s of key %s, where %s may come, in this order",
        ruleOfOrder(due, allowed),
        list(chosen),
        shown(key),
        list(allowed));
  }

  /** Which rule is broken when these come, and not all of them may. */
  private String ruleOfOrder(List<StoryMessage> come, List<StoryMessage> allowed) {
    StoryMessage first =
        come.stream().filter(message -> !allowed.contains(message)).findFirst().orElse(null);
    if (first == null) {
      return "C2";
    }
    if (messages.besides(first).anyMatch(m -> m.blocks)) {
      return "O3";
    } else if (messages.besides(first).anyMatch(m -> m.failed)) {
      return "O2";
    }
    return first.content.deliverAfter() != null && !first.failed ? "O4" : "S2";
  }

  private static List<StoryMessage> withoutPassable(List<StoryMessage> some) {
    return some.stream().filter(m -> !m.passable).toList();
  }

  private static boolean startsWith(List<?> list, List<?> start) {
    return start.size() <= list.size() && list.subList(0, start.size()).equals(start);
  }

  /**
   * Behind one that has not failed, a message whose retry is due may come along, with those behind
   * it.
   */
  private List<StoryMessage> withoutThoseThatComeAlong(
      List<StoryMessage> chosen, List<StoryMessage> allowed) {
    for (int i = 1; i < chosen.size(); i++) {
      StoryMessage message = chosen.get(i);
      if (!allowed.contains(message) && message.failed && messages.isDue(message)) {
        return chosen.subList(0, i);
      }
    }
    return chosen;
  }

  private void checkTakeover(String key) {
    for (Held other : unsettled()) {
      Grip grip = other.grips.get(key);
      if (grip != null && !grip.lost) {
        check(
            !isLive(grip),
            "C1: the claim brings key %s, which claim %s holds",
            shown(key),
            other.number);
        grip.lost = true;
        messages.saw("takeover");
      }
    }
  }

  private void compareAttempts(StoryMessage message, int attempts) {
    int expected = message.attempts + message.counted;
    int more = attempts - expected;
    check(
        more >= 0 && more <= message.mayCount,
        "S2: message %s comes with %s attempts instead of %s",
        message,
        attempts,
        expected);
    if (more > 0) {
      message.counted += more;
      message.mayCount -= more;
      messages.saw("counted at the claim");
    }
  }

  private boolean isLive(Grip grip) {
    return !grip.lost && grip.end.isAfter(messages.now);
  }

  private void doubtWhatHasEnded() {
    unsettled().stream()
        .flatMap(claim -> claim.grips.values().stream())
        .filter(grip -> !grip.lost && !grip.doubtful && !isLive(grip))
        .forEach(
            grip -> {
              grip.doubtful = true;
              if (tck.is(FindsPoison.class) && ++crashes > SOME_CRASHES) {
                grip.messages.forEach(m -> m.mayCount++);
              }
            });
  }

  private void checkNothingDue() {
    if (unsettled().stream().flatMap(c -> c.grips.values().stream()).anyMatch(this::isLive)) {
      return;
    }
    for (Held claim : unsettled()) {
      claim.grips.forEach(
          (key, grip) ->
              check(
                  grip.lost,
                  "S4: the claim is empty, though the lease of claim %s has ended and nobody holds key %s",
                  claim.number,
                  shown(key)));
    }
    Set<String> waiting = messages.keys(messages.there().filter(m -> m.failed));
    for (String key : messages.keys(messages.there())) {
      List<StoryMessage> due = messages.due(key);
      check(
          due.isEmpty() || (waiting.contains(key) && !due.get(0).failed),
          "%s: the claim is empty, though nobody holds anything and %s of key %s may come",
          due.stream().anyMatch(m -> m.sequence == 0) ? "A1" : "C6",
          list(due),
          shown(key));
    }
  }

  void settle(Held held, List<Verdict> verdicts) {
    Map<Long, Decision> decisions = decisions(held, "settle claim %s: ", verdicts);
    Set<Long> lost = held.actual.settle(decisions);
    settled(held, decisions, lost);
  }

  void settleAndTake(Held held, List<Verdict> verdicts, Take next) {
    Map<Long, Decision> decisions =
        decisions(held, "settle claim %s and claim " + described(next), verdicts);
    var settled = store().settleAndClaim(held.actual, decisions, next.request());
    settled(held, decisions, settled.lost());
    messages.add("; then ");
    Claim claim = settled.next();
    if (claim.messages().isEmpty()) {
      claim = claim(next.request()); // it may be that it only says to poll again
    }
    follow(claim, next);
  }

  /** The first verdict for the first message, and so on; the last for all that follow. */
  private Map<Long, Decision> decisions(Held held, String line, List<Verdict> verdicts) {
    Map<Long, Decision> decisions = new LinkedHashMap<>();
    List<String> words = new ArrayList<>();
    Set<String> heldBack = new HashSet<>();
    int i = 0;
    for (StoryMessage message : held.messages) {
      Verdict verdict = verdicts.get(Math.min(i++, verdicts.size() - 1));
      boolean second = verdict.holdsBack() && !heldBack.add(message.content.key());
      if (second || (verdict.holdsBack() && messages.anotherHoldsBack(message))) {
        verdict = Verdict.NONE;
      }
      Decision decision = verdict.decision.apply("error " + ++errors);
      words.add(message + " " + verdict.words);
      if (decision != null) {
        decisions.put(message.sequence, decision);
      }
    }
    messages.say(line, held.number);
    messages.add(list(words));
    return decisions;
  }

  private void settled(Held held, Map<Long, Decision> decisions, Set<Long> lost) {
    held.decisions = decisions;
    check(
        sequences(held.messages).containsAll(lost),
        "S1: settle says that sequences are lost which the claim does not have");
    eachKept(
        held,
        lost,
        grip -> {
          for (StoryMessage message : grip.messages) {
            Decision decision = decisions.get(message.sequence);
            if (decision != null) {
              messages.decide(message, decision);
            }
            message.mayCount = 0;
          }
          messages.saw(isLive(grip) ? "settle" : "late settle");
        });
  }

  private static Set<Long> sequences(List<StoryMessage> some) {
    return some.stream().map(m -> m.sequence).collect(Collectors.toSet());
  }

  /**
   * Does it with each key that is not among what is said to be lost, and gives the others up.
   *
   * @param lost sequences
   */
  private void eachKept(Held held, Set<Long> lost, Consumer<Grip> action) {
    held.grips.forEach(
        (key, grip) -> {
          boolean isLost = lost.containsAll(sequences(grip.messages));
          check(
              isLost || Collections.disjoint(lost, sequences(grip.messages)),
              "S1: of key %s a part is said to be lost and the rest not",
              shown(key));
          check(
              isLost || !grip.lost,
              "S1: claim %s is said to hold key %s, which it had lost",
              held.number,
              shown(key));
          if (!isLost) {
            action.accept(grip);
            return;
          }
          messages.rule = "S1"; // nothing of it may change
          check(
              grip.doubtful || grip.lost,
              "C4: claim %s is said to have lost key %s, which nobody has taken over",
              held.number,
              shown(key));
          grip.lost = true;
          messages.saw("lost");
          messages.add("; lost key " + shown(key));
        });
  }

  void settleAgain(Held held) {
    messages.say("settle claim %s again, with the same decisions", held.number);
    held.actual.settle(requireNonNull(held.decisions));
  }

  void renew(Held held, int hours) {
    messages.say("renew claim %s for %s h", held.number, hours);
    Duration lease = Duration.ofHours(hours);
    Set<Long> lost = sequences(held.messages);
    lost.removeAll(held.actual.renew(lease));
    eachKept(
        held,
        lost,
        grip -> {
          grip.end = messages.now.plus(lease);
          grip.doubtful = false;
          messages.saw("renew");
        });
  }
}
