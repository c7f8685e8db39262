package dev.outbox.store.core.internal;

import static java.util.stream.Collectors.toSet;

import dev.outbox.store.core.internal.Holding.SeenBucket;
import dev.outbox.store.core.internal.Vacancies.Vacant;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/**
 * Which buckets a relay takes, and which it gives away: the rules of docs/design/holding.md. Each
 * relay decides for itself, from the rows that it has just read. The rules keep nothing in memory
 * but since when buckets are vacant.
 */
final class HoldingRules {
  static final Duration STEP = Duration.ofSeconds(1);

  /**
   * The time between two looks at vacant buckets. At the second one they have been vacant for long.
   */
  static final Duration SECOND_LOOK = Duration.ofMillis(400);

  /** The time to the next look of a relay that hands buckets over. */
  static final Duration HANDING_OVER = Duration.ofMillis(50);

  /**
   * The time to the next look of a relay that is about to take buckets. What is handed over stands
   * still for so long.
   */
  static final Duration TAKING_OVER = Duration.ofMillis(20);

  /** So many stand by closely, and together look so often in a step. */
  private static final int CLOSE_BY = 2;

  /** What a relay says about the buckets that it holds. */
  enum Load {
    /** Less than a batch a second, for ten seconds. */
    CALM,
    WORKING,
    /** Its claims come back full. */
    BUSY
  }

  /** What a relay says about its intentions. */
  enum State {
    LIVES,
    /** It takes at once what is free. */
    READY,
    /** It stops as soon as another has taken its buckets. */
    LEAVING
  }

  /**
   * One incarnation of a relay.
   *
   * @param number nobody else's; at least 1
   */
  record Relay(long number, State state, Load load) {}

  /**
   * What a look has found.
   *
   * @param buckets those that are there; free where a lease has ended
   * @param relays those whose sessions live, in ascending order of their numbers
   */
  record Look(List<SeenBucket> buckets, List<Relay> relays) {
    int held(Relay relay) {
      int held = 0;
      for (SeenBucket each : buckets) { // no stream: it is asked for each relay of each
        held += each.holder() == relay.number ? 1 : 0;
      }
      return held;
    }

    /** Those that may take something. */
    private List<Relay> staying() {
      return relays.stream().filter(r -> r.state != State.LEAVING).toList();
    }

    /** Those that could take what this one has. */
    List<Relay> others(Relay self) {
      return staying().stream().filter(r -> r.number != self.number).toList();
    }

    boolean isHeldByOthers(Relay self) {
      return relays.stream().anyMatch(r -> r.number != self.number && gives(r));
    }

    /** Whether all staying relays are calm, so that one of them would do. */
    private boolean isCalm() {
      return staying().stream().allMatch(r -> r.load == Load.CALM);
    }

    /** Who holds most; of several the one with the lowest number. In calm times it holds all. */
    private Relay principal() {
      int most = staying().stream().mapToInt(this::held).max().orElseThrow();
      return staying().stream().filter(r -> held(r) == most).findFirst().orElseThrow();
    }

    /**
     * The buckets that nobody holds, or that a relay holds which is gone. They are equal at the
     * next look, also in their tokens, if nobody has had them in between.
     */
    Set<SeenBucket> vacant() {
      Set<Long> present = relays.stream().map(Relay::number).collect(toSet());
      return buckets.stream()
          .filter(each -> each.holder() != SeenBucket.ANONYMOUS)
          .filter(each -> !present.contains(each.holder()))
          .collect(toSet());
    }

    /** Those that should get ready, because others have something for them. */
    private List<Relay> receivers() {
      long leaving = relays.stream().filter(r -> r.state == State.LEAVING && gives(r)).count();
      if (isCalm()) {
        boolean spread = staying().stream().filter(this::gives).count() > 1;
        return leaving > 0 || spread ? List.of(principal()) : List.of();
      }
      List<Relay> busy = staying().stream().filter(r -> r.load == Load.BUSY).toList();
      int most = busy.stream().mapToInt(this::held).max().orElse(0);
      List<Relay> byBurden =
          staying().stream()
              .filter(r -> r.load != Load.BUSY || leaving > 0)
              .sorted(Comparator.comparingInt(this::burden).thenComparingInt(this::held))
              .limit(leaving + busy.size())
              .toList();
      return byBurden.stream()
          .filter(r -> byBurden.indexOf(r) < leaving || 2 * burden(r) + 1 < most)
          .toList();
    }

    /**
     * What is weighed against what a busy one holds. What leaves a relay calm is no burden: else
     * the keys of a slow one would wait, and all others had nothing to do.
     */
    private int burden(Relay relay) {
      return relay.load == Load.CALM ? 0 : held(relay);
    }

    private boolean gives(Relay relay) {
      return held(relay) > 0;
    }

    /** Until this relay looks again, if nothing is to be done before. */
    private Duration pause(Relay self) {
      if (gives(self)) {
        return STEP;
      }
      List<Relay> closeBy = staying().stream().filter(r -> !gives(r)).limit(CLOSE_BY).toList();
      return closeBy.contains(self)
          ? STEP.multipliedBy(closeBy.size()).dividedBy(CLOSE_BY)
          : STEP.multipliedBy(2);
    }
  }

  /**
   * What to do now.
   *
   * @param take vacant buckets
   * @param give own buckets, which become free
   * @param next when to look again, at the latest
   */
  record Plan(Set<Integer> take, Set<Integer> give, State state, Duration next) {}

  private HoldingRules() {}

  /**
   * @param self as it was read, among the relays of the look
   * @param vacant of the look's vacant buckets, those that have been so for a while
   */
  static Plan decide(Look look, Relay self, Vacant vacant) {
    List<Relay> others = look.others(self);
    boolean somebodyIsReady = others.stream().anyMatch(r -> r.state == State.READY);
    if (self.state == State.LEAVING) {
      boolean goes = others.isEmpty() || somebodyIsReady;
      return new Plan(
          Set.of(), goes ? own(look, self, Database.BUCKETS) : Set.of(), self.state, HANDING_OVER);
    }
    State state = look.receivers().contains(self) ? State.READY : State.LIVES;
    // It may have been given something, though nobody has more for it.
    boolean ready = state == State.READY || self.state == State.READY;
    Set<Integer> take = take(look, self, others, ready, vacant);
    Duration next =
        ready
            ? TAKING_OVER
            : vacant.forLong().containsAll(look.vacant()) ? look.pause(self) : SECOND_LOOK;
    // Whoever sees it ready leaves to it what is free, until it has it.
    return new Plan(
        take, give(look, self, others), ready && !take.isEmpty() ? State.READY : state, next);
  }

  private static Set<Integer> take(
      Look look, Relay self, List<Relay> others, boolean ready, Vacant vacant) {
    boolean isForAnother = !ready && others.stream().anyMatch(r -> r.state == State.READY);
    Set<SeenBucket> anybodys = isForAnother ? vacant.tooLong() : vacant.forLong();
    boolean alone = others.stream().noneMatch(look::gives);
    boolean atOnce = !isForAnother && (ready || alone || look.gives(self) && !look.isCalm());
    int holders = 1 + (int) others.stream().filter(look::gives).count();
    int share = (Database.BUCKETS + holders - 1) / holders;
    return look.vacant().stream()
        .filter(each -> anybodys.contains(each) || each.isFree() && atOnce)
        .map(SeenBucket::bucket)
        .sorted()
        .limit(alone || ready ? Database.BUCKETS : Math.max(0, share - look.held(self)))
        .collect(toSet());
  }

  private static Set<Integer> give(Look look, Relay self, List<Relay> others) {
    if (look.isCalm()) {
      Relay principal = look.principal();
      return principal.state == State.READY && !principal.equals(self)
          ? own(look, self, Database.BUCKETS)
          : Set.of();
    }
    if (self.load != Load.BUSY) {
      return Set.of();
    }
    int least =
        others.stream()
            .filter(r -> r.state == State.READY)
            .mapToInt(look::burden)
            .min()
            .orElse(look.held(self));
    return own(look, self, Math.max(0, look.held(self) - least) / 2);
  }

  private static Set<Integer> own(Look look, Relay self, int most) {
    return look.buckets.stream()
        .filter(each -> each.holder() == self.number)
        .map(SeenBucket::bucket)
        .sorted()
        .limit(most)
        .collect(toSet());
  }
}
