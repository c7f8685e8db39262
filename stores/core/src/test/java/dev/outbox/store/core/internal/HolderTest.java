package dev.outbox.store.core.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.Claim;
import dev.outbox.store.core.internal.Database.Release;
import dev.outbox.store.core.internal.HeldBuckets.Taken;
import dev.outbox.store.core.internal.Holding.Seen;
import dev.outbox.store.core.internal.Holding.SeenBucket;
import dev.outbox.store.core.internal.HoldingRules.Load;
import dev.outbox.store.core.internal.HoldingRules.Relay;
import dev.outbox.store.core.internal.HoldingRules.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Who holds for a relay")
class HolderTest {
  private static final Claim.Request REQUEST =
      new Claim.Request("relay", 10, 1_000, Duration.ofSeconds(30));
  private static final Set<Integer> ALL =
      IntStream.range(0, 64).boxed().collect(Collectors.toSet());
  private static final long OTHER = 5;

  private final Server server = new Server();
  private final HeldBuckets held = new HeldBuckets(Duration.ofSeconds(10), () -> server.clock);
  private final HeldClaims<String> claims =
      new HeldClaims<>(server.database(), server, held, () -> server.clock);
  private int restored;
  private final Holder<String> holder =
      new Holder<>(server, server, held, claims, () -> restored++, () -> server.clock);

  /** A server that says what it is told to say. */
  private final class Server implements Transactions<String>, Holding<String> {
    private long clock;
    private boolean hasSessions = true;
    private boolean pooled;
    private boolean endsSession;
    private Duration waiting = Duration.ZERO;
    private boolean losesReply;
    private boolean refusesToGiveBack;
    private Runnable beforeBegin = () -> {};
    private Runnable beforeTake = () -> {};
    private boolean settled = true;
    private int open;
    private int abandoned;
    private int changes;
    private int prolonged;
    private final Set<Integer> inHand = new HashSet<>();
    private final List<Announcement> announced = new ArrayList<>();
    private boolean queueIsFull;
    private volatile boolean committed;
    private boolean checkedFirst;
    private int missing;

    /** The longest that it was to wait for what others announce. */
    private Duration waited = Duration.ZERO;

    private @Nullable Announcement heard;
    private boolean listens;
    private final long[] holders = new long[64];
    private final long[] tokens = new long[64];
    private final List<Integer> codes = new ArrayList<>();

    Database<String> database() {
      return Fakes.database(
          (proxy, method, a) ->
              switch (method.getName()) {
                case "lockHeld" -> {
                  if (refusesToGiveBack) {
                    throw new TransientOutboxException("the database is away", null);
                  }
                  yield List.copyOf((Collection<?>) a[2]);
                }
                case "release" -> {
                  ((List<Release>) a[2])
                      .forEach(r -> holders[r.lease().bucket()] = SeenBucket.FREE);
                  yield null;
                }
                default -> throw new UnsupportedOperationException(method.getName());
              });
    }

    void other(State state) {
      codes.add(RelayPresence.code(new Relay(OTHER, state, Load.CALM)));
    }

    void gone() {
      codes.removeIf(code -> RelayPresence.of(code).number() == OTHER);
    }

    Set<Integer> heldBy(long number) {
      return ALL.stream().filter(b -> holders[b] == number).collect(Collectors.toSet());
    }

    @Override
    public <R extends @Nullable Object> R run(Duration patience, Work<String, R> work) {
      R result = work.in("");
      if (losesReply) {
        losesReply = false;
        throw new TransientOutboxException("the connection was lost", null);
      }
      return result;
    }

    @Override
    public <R extends @Nullable Object> R runSingle(Duration patience, Work<String, R> work) {
      return work.in("");
    }

    @Override
    public Duration waiting() {
      return waiting;
    }

    @Override
    public @Nullable Transactions<String> ofOneSession() {
      if (hasSessions) {
        open++;
        return this;
      }
      return null;
    }

    @Override
    public void close() {
      open--;
    }

    @Override
    public void abandon() {
      assertThat(open).as("sessions that are still open").isEqualTo(1);
      abandoned++;
      codes.removeIf(code -> RelayPresence.of(code).number() == held.relay());
    }

    @Override
    public boolean isSeen(String handle) {
      return !pooled;
    }

    @Override
    public boolean begin(String handle, int code) {
      beforeBegin.run();
      listens = false;
      return codes.add(code);
    }

    @Override
    public void change(String handle, int before, int after) {
      assertThat(codes.remove((Integer) before)).isTrue();
      codes.add(after);
      changes++;
    }

    @Override
    public void leave(String handle, int code) {
      assertThat(codes.remove((Integer) code)).isTrue();
    }

    @Override
    public Optional<Announcement> check(String handle, Duration most) {
      if (endsSession) {
        endsSession = false;
        throw new TransientOutboxException("an administrator ended the session", null);
      }
      checkedFirst |= committed && announced.isEmpty();
      waited = most.compareTo(waited) > 0 ? most : waited;
      clock += Duration.ofMillis(10).toNanos();
      return Optional.ofNullable(heard);
    }

    @Override
    public boolean announces() {
      return true;
    }

    @Override
    public void listen(String handle, boolean on) {
      assertThat(listens).isNotEqualTo(on);
      listens = on;
    }

    @Override
    public void announce(String handle, Announcement announcement) {
      announced.add(announcement);
      if (queueIsFull) {
        throw new TransientOutboxException("there is no room", null);
      }
    }

    @Override
    public Seen look(String handle) {
      return new Seen(
          ALL.stream().skip(missing).map(b -> new SeenBucket(b, tokens[b], holders[b])).toList(),
          List.copyOf(codes),
          settled);
    }

    @Override
    public List<Lease> take(
        String handle, UUID claimId, Claim.Request request, Collection<SeenBucket> seen) {
      List<Lease> taken = new ArrayList<>();
      beforeTake.run();
      seen.forEach(
          one -> {
            int bucket = one.bucket();
            if (tokens[bucket] == one.token()
                && !inHand.contains(bucket)
                && (!one.isFree() || holders[bucket] == SeenBucket.FREE)) {
              tokens[bucket]++;
              holders[bucket] = (int) claimId.getLeastSignificantBits();
              taken.add(
                  Lease.begins(
                      bucket,
                      tokens[bucket],
                      Lease.STATELESS,
                      false,
                      false,
                      false,
                      request.lease()));
            }
          });
      return taken;
    }

    @Override
    public Set<Integer> hold(
        String handle, UUID claimId, Collection<Lease> leases, Duration lease) {
      prolonged += leases.size();
      Set<Integer> ours = new HashSet<>();
      leases.stream()
          .filter(l -> tokens[l.bucket()] == l.token() && !inHand.contains(l.bucket()))
          .forEach(l -> ours.add(l.bucket()));
      return ours;
    }

    @Override
    public Lease forget(Lease lease) {
      return lease.with("forgotten");
    }
  }

  @BeforeEach
  void begin() {
    assertThat(held.claims(REQUEST)).as("before others see it").isFalse();
    holder.begin(server);
  }

  private Duration step() {
    server.clock += Duration.ofMillis(500).toNanos();
    boolean ignored = held.claims(REQUEST);
    Duration next = holder.step(server);
    looked();
    return next;
  }

  /** As a claim does it when there may be something that nobody has handed over. */
  private void looked() {
    assertThat(held.back(held.take().ones())).isEmpty();
  }

  private Set<Integer> ours() {
    return server.heldBy(held.relay());
  }

  private void otherHolds() {
    server.other(State.LIVES);
    ALL.forEach(bucket -> server.holders[bucket] = OTHER);
  }

  @Test
  @DisplayName("stands by while another holds, and not once it has taken that")
  void standsBy() {
    assertThat(holder.standsBy()).isFalse();
    otherHolds();
    step();
    assertThat(holder.standsBy()).isTrue();
    held.shown(false);
    assertThat(holder.standsBy()).as("when it has lost its session").isFalse();
    held.shown(true);
    server.gone();
    step();
    step();
    assertThat(ours()).isEqualTo(ALL);
    assertThat(holder.standsBy()).isFalse();
    assertThat(held.take().ones()).hasSize(64);
    server.clock += Duration.ofSeconds(10).toNanos();
    holder.step(server);
    assertThat(holder.standsBy()).as("while its workers have all, and it gives all").isFalse();
    assertThat(holder.othersHold()).as("others, who would listen").isFalse();
  }

  @Test
  @DisplayName("does not stand by while it holds some itself")
  void holdsSome() {
    step();
    server.other(State.LIVES);
    server.holders[9] = OTHER;
    server.tokens[9]++;
    step();
    assertThat(holder.othersHold()).isTrue();
    assertThat(holder.standsBy()).isFalse();
  }

  @Test
  @DisplayName("has buckets restored that somebody has deleted")
  void restores() {
    step();
    assertThat(restored).isZero();
    server.missing = 1;
    step();
    assertThat(restored).isEqualTo(1);
  }

  @Test
  @DisplayName("takes again what it may have taken, when it was not told so")
  void lostReply() {
    server.losesReply = true;
    assertThatThrownBy(this::step).isInstanceOf(TransientOutboxException.class);
    assertThat(ours()).isEqualTo(ALL);
    assertThat(held.give(ALL)).as("known here").isEmpty();
    step();
    assertThat(held.give(ALL)).as("known here").hasSize(64);
  }

  @Test
  @DisplayName("takes it again also when no worker claims for a while after that")
  void lostReplyAndNoClaims() {
    server.losesReply = true;
    assertThatThrownBy(this::step).isInstanceOf(TransientOutboxException.class);
    server.clock += Duration.ofSeconds(10).toNanos();
    holder.step(server);
    step();
    assertThat(held.give(ALL)).as("known here").hasSize(64);
  }

  @Test
  @DisplayName("takes all that is free when there is nobody else, and shows what it does")
  void alone() {
    step();
    assertThat(ours()).isEqualTo(ALL);
    assertThat(held.open()).hasSize(64);
    assertThat(server.codes)
        .containsExactly(RelayPresence.code(new Relay(held.relay(), State.LIVES, Load.CALM)));
    int changes = server.changes;
    step();
    assertThat(server.changes).isEqualTo(changes);
  }

  @Test
  @DisplayName("leaves what is free to one that is ready for it, until that one is gone")
  void isForAnother() {
    server.other(State.READY);
    step();
    assertThat(ours()).isEmpty();
    server.gone();
    step();
    assertThat(ours()).isEqualTo(ALL);
  }

  @Test
  @DisplayName("takes what one that was ready for it has not taken for three seconds")
  void readyStandsStill() {
    server.other(State.READY);
    for (int i = 0; i < 7; i++) { // each half a second
      assertThat(ours()).isEmpty();
      step();
    }
    assertThat(ours()).isEqualTo(ALL);
  }

  @Test
  @DisplayName("has workers wait for its first session, and lease for themselves if there is none")
  void firstSession() {
    held.shown(false);
    List<Boolean> wait = new ArrayList<>();
    server.beforeBegin =
        () -> {
          wait.add(held.claims(REQUEST));
          throw new TransientOutboxException("too many sessions", null);
        };
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> holder.hold(() -> {})).isInstanceOf(TransientOutboxException.class);
      wait.add(held.claims(REQUEST));
    }
    assertThat(wait).containsExactly(true, false, false, false);
  }

  @Test
  @DisplayName("has back from a claim that failed what that one still has, and nothing of the next")
  void failedClaim() {
    step();
    Taken failed = held.take();
    assertThat(held.back(failed.ones())).isEmpty();
    Taken next = held.take();
    assertThat(held.back(failed)).isEmpty();
    assertThat(held.take().ones()).isEmpty();
    assertThat(held.back(next)).isEmpty();
    assertThat(held.take().ones()).hasSize(64);
  }

  @Test
  @DisplayName("does not have workers wait for long for a session that they may never get")
  void firstSessionNeverBegins() {
    held.shown(false);
    held.beginning();
    assertThat(held.claims(REQUEST)).isTrue();
    server.clock += HeldBuckets.BEGINS.toNanos();
    assertThat(held.claims(REQUEST)).isFalse();
  }

  @Test
  @DisplayName("takes nothing while no worker claims")
  void unclaimed() {
    server.clock += Duration.ofSeconds(10).toNanos();
    assertThat(holder.step(server)).isEqualTo(HoldingRules.STEP);
    assertThat(ours()).isEmpty();
    step();
    assertThat(ours()).isEqualTo(ALL);
  }

  @Test
  @DisplayName("takes what a relay holds that was missed in two looks, soon after one another")
  void gone() {
    otherHolds();
    step();
    server.gone();
    assertThat(step()).isEqualTo(HoldingRules.SECOND_LOOK);
    assertThat(ours()).isEmpty();
    step();
    assertThat(ours()).isEqualTo(ALL);
  }

  @Test
  @DisplayName("takes nothing of a relay that came back, nor of one that shows nothing")
  void cameBack() {
    otherHolds();
    server.holders[7] = SeenBucket.ANONYMOUS;
    for (int i = 0; i < 9; i++) {
      server.gone();
      step();
      server.other(State.LIVES);
      step();
      assertThat(ours()).isEmpty();
    }
    server.gone();
    step();
    step();
    assertThat(ours()).hasSize(63).doesNotContain(7);
  }

  @Test
  @DisplayName("takes nothing of others while the server is young, and all sessions may be missing")
  void young() {
    otherHolds();
    server.gone();
    server.settled = false;
    step();
    step();
    server.settled = true;
    step();
    assertThat(ours()).isEmpty();
    step();
    assertThat(ours()).isEqualTo(ALL);
  }

  @Test
  @DisplayName("takes nothing of others for some seconds after its session was lost")
  void failover() throws InterruptedException {
    step();
    server.endsSession = true;
    held.shown(false);
    server.codes.clear();
    assertThatThrownBy(() -> holder.hold(() -> {})).isInstanceOf(TransientOutboxException.class);
    assertThat(server.open).as("sessions that are still open").isZero();
    assertThat(server.abandoned).isEqualTo(1);
    assertThat(ours()).as("is held on").isEqualTo(ALL);
    assertThat(held.claims(REQUEST)).as("and claimed from").isTrue();
    assertThat(held.open()).as("but nothing is handed over").isEmpty();
    holder.begin(server);
    otherHolds();
    server.gone();
    for (int i = 0; i < 10; i++) {
      assertThat(ours()).isEmpty();
      step();
    }
    step();
    step();
    assertThat(ours()).isEqualTo(ALL);
  }

  @Test
  @DisplayName("takes nothing of one that it missed before its own session was lost")
  void missedBeforeAFailover() throws InterruptedException {
    otherHolds();
    server.gone();
    step();
    held.shown(false);
    server.codes.clear();
    holder.begin(server);
    step();
    assertThat(ours()).isEmpty();
  }

  /** How often there may be something to claim, while it waits. */
  private int heard() throws InterruptedException {
    looked();
    holder.await(server, Duration.ofMillis(30));
    return held.haveMore() ? 1 : 0;
  }

  @Test
  @DisplayName("hears what others announce, as long as it holds something")
  void hears() throws InterruptedException {
    step();
    assertThat(server.listens).isTrue();
    assertThat(heard()).isZero();
    assertThat(server.waited).as("nobody else holds any").isGreaterThan(Duration.ofMillis(5));
    server.heard = Announcement.ANYTHING;
    assertThat(heard()).isPositive();
    ALL.forEach(bucket -> server.holders[bucket] = OTHER);
    server.other(State.LIVES);
    step();
    assertThat(server.listens).isFalse();
  }

  @Test
  @DisplayName("announces to those who hold, once for all that comes at once")
  void announces() throws InterruptedException {
    Announcement one = new Announcement(Map.of(10L, 1));
    Announcement other = new Announcement(Map.of(11L, 2));
    assertThat(holder.announce(one)).isTrue();
    assertThat(heard()).isZero();
    assertThat(server.announced).as("nobody is known to hold all").containsExactly(one);
    otherHolds();
    step();
    assertThat(holder.announce(one)).isTrue();
    assertThat(holder.announce(other)).isTrue();
    boolean ignored = heard() > 0;
    assertThat(server.announced).containsExactly(one, new Announcement(Map.of(10L, 1, 11L, 2)));
    server.queueIsFull = true;
    assertThat(holder.announce(one)).isTrue();
    assertThat(holder.announce(Announcement.ANYTHING)).isTrue();
    ignored = heard() > 0;
    assertThat(server.announced).as("and lives on").hasSize(3).endsWith(Announcement.ANYTHING);
  }

  @Test
  @DisplayName("announces at once what comes while it waits, and looks at its session after that")
  void announcesAtOnce() throws InterruptedException {
    otherHolds();
    step();
    Thread waits = Thread.currentThread();
    Thread commits =
        new Thread(
            () -> {
              while (waits.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
              }
              server.committed = true;
              boolean ignored = holder.announce(Announcement.ANYTHING);
            });
    commits.start();
    holder.await(server, Duration.ofMillis(60));
    commits.join();
    assertThat(server.announced).hasSize(1);
    assertThat(server.checkedFirst).isFalse();
  }

  @Test
  @DisplayName("notices that its session has ended when it cannot announce")
  void cannotAnnounce() {
    otherHolds();
    step();
    server.queueIsFull = true;
    server.endsSession = true;
    assertThat(holder.announce(Announcement.ANYTHING)).isTrue();
    assertThatThrownBy(() -> holder.await(server, Duration.ofMillis(30)))
        .hasMessageContaining("ended the session");
  }

  @Test
  @DisplayName("gives its session back when transactions have waited for 2 s for a connection")
  void usedUp() {
    server.codes.clear();
    server.waiting = Holder.STARVES;
    assertThatThrownBy(() -> holder.hold(() -> {}))
        .isInstanceOf(TransientOutboxException.class)
        .hasMessageContainingAll("no connection for 2 s", "enlarge the pool");
    assertThat(server.open).as("sessions that are still open").isZero();
    assertThat(server.abandoned).isZero();
    assertThat(server.codes).isEmpty();
    assertThat(held.isClosed()).as("for good").isFalse();
  }

  @Test
  @DisplayName("announces only that there is something, where its session ended in between")
  void announcesAfterFailover() throws InterruptedException {
    otherHolds();
    step();
    assertThat(holder.announce(new Announcement(Map.of(10L, 1)))).isTrue();
    server.codes.clear();
    held.shown(false);
    holder.begin(server);
    boolean ignored = heard() > 0;
    assertThat(server.announced).containsExactly(Announcement.ANYTHING);
  }

  @Test
  @DisplayName("looks at what it has taken, of which others were told before")
  void looksAtWhatItTook() {
    step();
    assertThat(held.haveNews()).isFalse();
    assertThat(held.give(Set.of(3))).hasSize(1);
    server.holders[3] = SeenBucket.FREE;
    holder.step(server);
    assertThat(held.haveNews()).isTrue();
  }

  @Test
  @DisplayName("looks at what it holds when it listens again, for what it did not hear")
  void listensAgain() {
    step();
    held.shown(false);
    server.codes.clear();
    holder.begin(server);
    looked();
    assertThat(held.haveNews()).isFalse();
    holder.step(server);
    assertThat(held.haveNews()).isTrue();
  }

  @Test
  @DisplayName("leaves a session to its pool that listens no more, and shows nothing")
  void leavesNothingBehind() throws InterruptedException {
    held.shown(false);
    server.codes.clear();
    server.beforeTake = claims::close;
    holder.hold(() -> {});
    assertThat(server.abandoned).isZero();
    assertThat(server.codes).isEmpty();
    assertThat(server.listens).isFalse();
  }

  @Test
  @DisplayName("announces nothing to itself, nor where nobody can see it")
  void announcesNothing() throws InterruptedException {
    step();
    assertThat(holder.announce(Announcement.ANYTHING)).isTrue();
    boolean ignored = heard() > 0;
    held.shown(false);
    otherHolds();
    step();
    assertThat(holder.announce(Announcement.ANYTHING)).isFalse();
    ignored = heard() > 0;
    assertThat(server.announced).isEmpty();
  }

  @Test
  @DisplayName("stops waiting when its thread is interrupted, also while it listens")
  void interrupted() {
    step();
    Thread.currentThread().interrupt();
    assertThatThrownBy(this::heard).isInstanceOf(InterruptedException.class);
  }

  @Test
  @DisplayName("takes nothing of one who is gone that changed hands between two looks")
  void changed() {
    otherHolds();
    server.gone();
    step();
    server.tokens[3]++;
    step();
    assertThat(ours()).hasSize(63).doesNotContain(3);
    step();
    assertThat(ours()).isEqualTo(ALL);
  }

  @Test
  @DisplayName("keeps nothing that it takes while its workers end")
  void closedMeanwhile() {
    server.beforeTake = claims::close;
    step();
    assertThat(ours()).isEmpty();
  }

  @Test
  @DisplayName("gives all to a relay that is ready for it when it leaves, and takes nothing again")
  void leaves() throws InterruptedException {
    step();
    server.other(State.LIVES);
    assertThat(holder.leave(Duration.ZERO)).isFalse();
    step();
    assertThat(ours()).as("nobody is ready").isEqualTo(ALL);
    server.gone();
    server.other(State.READY);
    step();
    assertThat(ours()).isEmpty();
    step();
    assertThat(holder.leave(Duration.ZERO)).isTrue();
    server.gone();
    step();
    assertThat(ours()).isEmpty();
  }

  @Test
  @DisplayName("has left when its workers have settled what they have, and not before")
  void leavesAfterItsWorkers() throws InterruptedException {
    step();
    List<HeldBucket> inHand = held.take().ones();
    assertThat(inHand).hasSize(64);
    server.other(State.READY);
    for (int i = 0; i < 3; i++) {
      assertThat(holder.leave(Duration.ZERO)).isFalse();
      holder.step(server);
    }
    assertThat(ours()).isEqualTo(ALL);
    List<Lease> given = held.back(inHand);
    assertThat(given).hasSize(64);
    given.forEach(lease -> server.holders[lease.bucket()] = SeenBucket.FREE);
    holder.step(server);
    assertThat(holder.leave(Duration.ZERO)).isTrue();
  }

  @Test
  @DisplayName("takes nothing of one that was missed for a moment, however often it looks")
  void missedForAMoment() {
    otherHolds();
    step();
    server.gone();
    Duration soon = Duration.ofMillis(20);
    for (Duration gone = Duration.ZERO;
        gone.compareTo(Vacancies.LONG) < 0;
        gone = gone.plus(soon)) {
      assertThat(ours()).isEmpty();
      server.clock += soon.toNanos();
      boolean ignored = held.claims(REQUEST);
      holder.step(server);
    }
    server.clock += soon.toNanos();
    holder.step(server);
    assertThat(ours()).isEqualTo(ALL);
  }

  @Test
  @DisplayName("does not get ready for a bucket that is the only one its holder has")
  void lastBucket() {
    ALL.forEach(bucket -> server.holders[bucket] = SeenBucket.ANONYMOUS);
    server.holders[5] = OTHER;
    server.codes.add(RelayPresence.code(new Relay(OTHER, State.LIVES, Load.BUSY)));
    assertThat(step()).isEqualTo(HoldingRules.STEP.dividedBy(2));
    server.holders[6] = OTHER;
    assertThat(step()).as("of two it may get one").isEqualTo(HoldingRules.TAKING_OVER);
  }

  @Test
  @DisplayName("looks again soon when it could not take all that it wanted")
  void rowIsLocked() {
    server.inHand.add(7);
    assertThat(step()).isEqualTo(HoldingRules.HANDING_OVER);
    assertThat(ours()).hasSize(63);
    assertThat(step()).as("once").isGreaterThan(HoldingRules.HANDING_OVER);
    server.inHand.clear();
    assertThat(step()).isGreaterThan(HoldingRules.HANDING_OVER);
    assertThat(ours()).isEqualTo(ALL);
  }

  @Test
  @DisplayName("holds on to what it could not give, and gives it when it can")
  void cannotGive() throws InterruptedException {
    step();
    server.other(State.READY);
    assertThat(holder.leave(Duration.ZERO)).isFalse();
    server.refusesToGiveBack = true;
    assertThatThrownBy(this::step).isInstanceOf(TransientOutboxException.class);
    assertThat(held.open()).hasSize(64);
    assertThat(held.haveNews()).as("a claim asks whether it still holds them").isTrue();
    server.refusesToGiveBack = false;
    step();
    assertThat(ours()).isEmpty();
    assertThat(held.open()).isEmpty();
  }

  @Test
  @DisplayName("leaves at once when there is nobody else")
  void leavesAlone() throws InterruptedException {
    step();
    assertThat(holder.leave(Duration.ZERO)).isFalse();
    step();
    assertThat(holder.leave(Duration.ZERO)).isTrue();
    assertThat(ours()).isEmpty();
  }

  @Test
  @DisplayName("prolongs what waits, long before its leases end, and drops what was lost")
  void prolongs() {
    step();
    server.tokens[9]++;
    server.holders[9] = OTHER;
    server.other(State.LIVES);
    for (int i = 0; i < 9; i++) {
      assertThat(step()).isLessThanOrEqualTo(Duration.ofSeconds(2));
    }
    assertThat(server.prolonged).isEqualTo(63);
    assertThat(held.open()).hasSize(63);
    for (int i = 0; i < 8; i++) {
      step();
    }
    assertThat(server.prolonged).isEqualTo(63 + 63);
  }

  @Test
  @DisplayName("prolongs once what it took, though workers do so all the time (S6)")
  void isWell() {
    step();
    for (int i = 0; i < 9; i++) {
      server.clock += Duration.ofMillis(500).toNanos();
      holder.step(server);
      prolongedByWorkers();
    }
    assertThat(server.prolonged).isEqualTo(64);
  }

  private void prolongedByWorkers() {
    List<HeldBucket> longer =
        held.take().ones().stream()
            .map(one -> one.lease().lasts(Claims.withSlack(REQUEST.lease())))
            .map(lease -> HeldBucket.until(server.clock, lease, server.clock))
            .toList();
    assertThat(longer).hasSize(64);
    assertThat(held.back(longer)).isEmpty();
  }

  @Test
  @DisplayName("takes nothing that was free in two looks when somebody had it in between")
  void hadInBetween() {
    otherHolds();
    server.holders[3] = SeenBucket.FREE;
    server.holders[4] = SeenBucket.FREE;
    step();
    server.tokens[3]++;
    step();
    assertThat(ours()).containsExactly(4);
  }

  @Test
  @DisplayName("holds what it missed as a worker changed it just then, and the next claim locks it")
  void prolongedByAWorker() {
    step();
    server.inHand.add(9);
    for (int i = 0; i < 9; i++) {
      step();
    }
    assertThat(held.open()).hasSize(64);
    assertThat(held.mustBeLocked(held.take(), REQUEST.lease())).isTrue();
  }

  @Test
  @DisplayName("forgets what others took while a worker had it, and never settled")
  void forgetsWhatIsAbandoned() {
    step();
    assertThat(held.take().ones()).hasSize(64);
    AppendReport report = new AppendReport(List.of(), new Announcement(Map.of(10L, 9, 11L, 10)));
    assertThat(held.committed(2, report).noted()).as("in hand").isEqualTo(2);
    server.tokens[9]++;
    server.holders[9] = OTHER;
    server.other(State.LIVES);
    holder.step(server);
    assertThat(held.committed(2, report).elsewhere()).isEqualTo(Map.of(10L, 9));
  }

  @Test
  @DisplayName("has each bucket read from its beginning again, one a minute")
  void forgets() {
    step();
    for (int i = 0; i < 5 * 120; i++) {
      step();
    }
    assertThat(held.open().stream().filter(lease -> lease.state().equals("forgotten"))).hasSize(5);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @DisplayName("does nothing where there are no sessions, or none that stays with its client")
  void without(boolean hasSessions) throws InterruptedException {
    held.shown(false);
    server.hasSessions = hasSessions;
    server.pooled = true;
    holder.hold(() -> {});
    assertThat(server.open).as("sessions that are still open").isZero();
    assertThat(held.claims(REQUEST)).isFalse();
    assertThat(holder.leave(Duration.ZERO)).isTrue();
    assertThat(restored).isZero();
  }

  @Test
  @DisplayName("gives all back when it had a session, and can have none any more")
  void noMore() throws InterruptedException {
    step();
    assertThat(ours()).isEqualTo(ALL);
    held.shown(false);
    server.pooled = true;
    server.refusesToGiveBack = true;
    assertThatThrownBy(() -> holder.hold(() -> {})).isInstanceOf(TransientOutboxException.class);
    server.refusesToGiveBack = false;
    holder.hold(() -> {});
    assertThat(ours()).isEmpty();
    assertThat(held.claims(REQUEST)).as("what is held").isFalse();
  }

  @Test
  @DisplayName("shows its number in its claim id, and what it does in its sign")
  void signs() {
    UUID id = RelayPresence.claimId(held.relay());
    assertThat(id.version()).isEqualTo(8);
    assertThat(id.variant()).isEqualTo(2);
    assertThat((int) id.getLeastSignificantBits()).isEqualTo(held.relay()).isPositive();
    for (State state : State.values()) {
      for (Load load : Load.values()) {
        Relay relay = new Relay(held.relay(), state, load);
        assertThat(RelayPresence.code(relay)).isPositive();
        assertThat(RelayPresence.of(RelayPresence.code(relay))).isEqualTo(relay);
      }
    }
  }
}
