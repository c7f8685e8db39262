package dev.outbox.store.core.internal;

import dev.outbox.OutboxException;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.Claim;
import dev.outbox.store.core.internal.Holding.Seen;
import dev.outbox.store.core.internal.Holding.SeenBucket;
import dev.outbox.store.core.internal.HoldingRules.Load;
import dev.outbox.store.core.internal.HoldingRules.Look;
import dev.outbox.store.core.internal.HoldingRules.Plan;
import dev.outbox.store.core.internal.HoldingRules.Relay;
import dev.outbox.store.core.internal.HoldingRules.State;
import dev.outbox.store.core.internal.Vacancies.Vacant;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Holds buckets for one relay: shows by a session of its own that the relay lives, looks about once
 * a second who has what, and takes and gives buckets by {@link HoldingRules}. So the keys of a
 * process that was killed stand still for a second or two, and not until its leases end. What it
 * costs when only the session ends is in docs/design/holding.md.
 */
final class Holder<H> {

  /** How soon it is noticed that the session has ended. */
  static final Duration CHECKS = Duration.ofMillis(100);

  /** The same for who holds some buckets and not all: it has to listen, and to announce. */
  private static final Duration TURNS = Duration.ofMillis(5);

  /** What is committed in this time is announced once. */
  private static final Duration ANNOUNCES = Duration.ofMillis(2);

  /** After a failover all sessions are gone at once, and come back in this time. */
  static final Duration OTHERS_COME_BACK = Duration.ofSeconds(5);

  /** How often one bucket is read from its beginning again. */
  static final Duration FORGETS = Duration.ofMinutes(1);

  /**
   * When transactions have waited for a connection for so long, they get the session's. Who waits
   * has buckets that others could deliver from.
   */
  static final Duration STARVES = Duration.ofSeconds(2);

  /** Looks of many relays should not coincide. */
  private static final double JITTER = 0.1;

  /** How long the database waits for a client that stops in a transaction. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final Transactions<H> transactions;
  private final Holding<H> holding;
  private final HeldBuckets held;
  private final HeldClaims<H> claims;
  private final Runnable restore;
  private final LongSupplier clock;
  private final Semaphore told = new Semaphore(0);
  private final CountDownLatch left = new CountDownLatch(1);
  private final AtomicReference<@Nullable Announcement> toAnnounce = new AtomicReference<>();
  private volatile boolean toLook;
  private volatile boolean leaving;

  /** How many buckets were held at the last look. */
  private volatile int holds;

  /** Whether others held some then. */
  private volatile boolean othersHold;

  // Of the thread that holds:
  private Relay self;
  private final Vacancies vacancies = new Vacancies();

  /** Those that may have been taken, without an answer that said so: no worker here has them. */
  private final Set<Integer> unanswered = new HashSet<>();

  /** Whether it could not take all that it wanted, and soon tries once more. */
  private boolean triesAgain;

  /** Whether there was a session before: then this one's server may be another. */
  private boolean hadSession;

  /** Whether {@link #hold} was never called. */
  private boolean isFirst = true;

  private Runnable heard = () -> {};
  private boolean listens;
  private long announcedAt;
  private long takesFrom;
  private long forgetsAt;
  private int forgets;

  /**
   * @param restore what to do when buckets are missing
   */
  Holder(
      Transactions<H> transactions,
      Holding<H> holding,
      HeldBuckets held,
      HeldClaims<H> claims,
      Runnable restore,
      LongSupplier clock) {
    this.transactions = transactions;
    this.holding = holding;
    this.held = held;
    this.claims = claims;
    this.restore = restore;
    this.clock = clock;
    self = new Relay(held.relay(), State.LEAVING, Load.CALM);
    forgetsAt = clock.getAsLong() + FORGETS.toNanos();
    announcedAt = clock.getAsLong() - ANNOUNCES.toNanos();
  }

  /** To look at once: from any thread. */
  void tell() {
    toLook = true;
    told.release();
  }

  /**
   * To say this to those who hold the other buckets: from any thread.
   *
   * @return whether this relay delivers from what it holds, and others from what they hold
   */
  boolean announce(Announcement announcement) {
    if (announces()) {
      Announcement before =
          toAnnounce.getAndUpdate(old -> old == null ? announcement : old.and(announcement));
      if (before == null) {
        told.release();
      }
    }
    return held.isShown();
  }

  /** Whether there are others to tell. */
  boolean announces() {
    return held.isShown() && holding.announces() && holds < Database.BUCKETS;
  }

  /** Whether others hold buckets, and this relay none. */
  boolean standsBy() {
    return holds == 0 && othersHold();
  }

  /** Whether others hold buckets, and so listen. */
  boolean othersHold() {
    return held.isShown() && othersHold;
  }

  /**
   * Gives what is held to another relay, as soon as one is ready for it. Workers go on meanwhile.
   * Returns when that is done, or there is no other: or after this time, and then false.
   */
  boolean leave(Duration most) throws InterruptedException {
    leaving = true;
    tell();
    return left.await(most.toNanos(), TimeUnit.NANOSECONDS);
  }

  /**
   * Holds until the thread is interrupted or nothing is to be held any more. Returns at once where
   * there can be no session; from then on claims stand for themselves.
   *
   * @param heard called when there may be something to claim
   * @throws OutboxException when the session has ended, or was given up because transactions have
   *     no connection; to be called again then
   */
  void hold(Runnable heard) throws InterruptedException {
    this.heard = heard;
    if (isFirst) {
      isFirst = false;
      held.beginning();
    }
    try {
      Transactions<H> session = held.isClosed() ? null : transactions.ofOneSession();
      if (session != null) {
        hold(session);
      }
    } finally {
      held.shown(false);
    }
    left.countDown();
    claims.close();
  }

  private void hold(Transactions<H> session) throws InterruptedException {
    Duration waiting = Duration.ZERO;
    try {
      begin(session);
      if (held.isShown()) {
        try {
          while (!held.isOver() && waiting.compareTo(STARVES) < 0) {
            await(session, step(session));
            waiting = transactions.waiting();
          }
        } catch (InterruptedException e) {
          end(session);
          throw e;
        }
        end(session);
      }
    } catch (RuntimeException | Error e) {
      session.abandon(); // or else a pool could keep it, with the sign
      throw e;
    } finally {
      hadSession |= held.isShown();
      held.shown(false);
      session.close();
    }
    if (waiting.compareTo(STARVES) >= 0) {
      throw new TransientOutboxException(
          "the pool has given this relay no connection for %s s, so it gives up the one by which others see that it lives, and its keys: enlarge the pool, or give the relay one of its own"
              .formatted(waiting.toSeconds()),
          null);
    }
  }

  void begin(Transactions<H> session) {
    if (session.runSingle(
        PATIENCE,
        handle -> holding.isSeen(handle) && holding.begin(handle, RelayPresence.code(self)))) {
      takesFrom = clock.getAsLong() + (hadSession ? OTHERS_COME_BACK.toNanos() : 0);
      vacancies.forget();
      // What it would say of a history that is over may not be so.
      toAnnounce.updateAndGet(old -> old == null ? null : Announcement.ANYTHING);
      listens = false;
      held.shown(true);
    }
  }

  private void end(Transactions<H> session) {
    listen(session, false);
    run(session, handle -> holding.leave(handle, RelayPresence.code(self)));
  }

  private void run(Transactions<H> session, Consumer<H> work) {
    boolean ignored =
        session.runSingle(
            PATIENCE,
            handle -> {
              work.accept(handle);
              return true;
            });
  }

  /**
   * Looks, takes and gives.
   *
   * @return when to look again, at the latest
   */
  Duration step(Transactions<H> session) {
    Claim.Request request = held.request();
    boolean leaves = leaving;
    long asked = clock.getAsLong();
    Seen seen = session.runSingle(PATIENCE, holding::look);
    if (!seen.codes().contains(RelayPresence.code(self))) {
      throw new TransientOutboxException(
          "others cannot see this relay: the session in which it shows itself is another one",
          null);
    }
    held.forgetLost(seen.buckets());
    if (seen.buckets().size() < Database.BUCKETS) {
      restore.run();
    }
    State state =
        leaves || request == null
            ? State.LEAVING
            : self.state() == State.LEAVING ? State.LIVES : self.state();
    Relay now = new Relay(held.relay(), state, held.load());
    Look look = look(seen, now);
    Vacant vacant = vacancies.seen(look.vacant(), asked, clock.getAsLong());
    Plan plan = HoldingRules.decide(look, now, vacant);
    if (!seen.settled() || asked - takesFrom < 0) {
      vacancies.forget();
    }
    show(session, new Relay(now.number(), plan.state(), now.load()));
    Set<Integer> takes = new HashSet<>(plan.take());
    seen.buckets().stream()
        .filter(b -> b.holder() == now.number() && unanswered.contains(b.bucket()))
        .forEach(b -> takes.add(b.bucket()));
    int taken = request == null ? 0 : take(session, request, takes, seen);
    if (!plan.give().isEmpty()) {
      claims.giveBack(session, held.give(plan.give()));
    }
    // What workers have is free when they settle, and until then this relay is to be seen.
    if (leaves && (look.held(now) == 0 || look.others(now).isEmpty())) {
      left.countDown();
    }
    Duration next = request == null && !leaves ? HoldingRules.STEP : plan.next();
    // Others may have been quicker, or who gives a bucket has its row locked still.
    triesAgain = taken < takes.size() && !triesAgain;
    if (triesAgain) {
      next = min(next, HoldingRules.HANDING_OVER);
    }
    holds = look.held(now) + plan.take().size() - plan.give().size();
    othersHold = look.isHeldByOthers(now);
    boolean listened = listens;
    listen(session, holds > 0);
    if (taken > 0 || listens && !listened) {
      held.mustLook(); // what waits in them was announced to others, or to nobody
      heard.run();
    }
    return request == null ? next : min(next, keep(session, request.lease()));
  }

  private void listen(Transactions<H> session, boolean on) {
    if (holding.announces() && on != listens) {
      run(session, handle -> holding.listen(handle, on));
      listens = on;
    }
  }

  private Look look(Seen seen, Relay now) {
    Map<Long, Relay> relays = new TreeMap<>();
    seen.codes().stream()
        .map(RelayPresence::of)
        .forEach(relay -> relays.put(relay.number(), relay));
    relays.put(now.number(), now);
    return new Look(seen.buckets(), List.copyOf(relays.values()));
  }

  private void show(Transactions<H> session, Relay now) {
    if (!now.equals(self)) {
      Relay last = self;
      run(
          session,
          handle -> holding.change(handle, RelayPresence.code(last), RelayPresence.code(now)));
      self = now;
    }
  }

  /** Returns how many were taken. */
  private int take(
      Transactions<H> session, Claim.Request request, Set<Integer> buckets, Seen seen) {
    if (buckets.isEmpty()) {
      return 0;
    }
    List<SeenBucket> asSeen =
        seen.buckets().stream().filter(one -> buckets.contains(one.bucket())).toList();
    Claim.Request longer =
        new Claim.Request(
            request.worker(),
            request.maxMessages(),
            request.maxBytes(),
            Claims.withSlack(request.lease()));
    long asked = clock.getAsLong();
    unanswered.addAll(buckets);
    List<Lease> taken =
        session.run(PATIENCE, handle -> holding.take(handle, held.claimId(), longer, asSeen));
    unanswered.clear();
    claims.giveBack(session, held.took(asked, taken));
    return taken.size();
  }

  /**
   * Prolongs what would not last for a claim until half of the slack is gone, and what was taken so
   * long ago: that is how the database learns that the relay did not die of it (S6).
   *
   * @return when to do so again
   */
  private Duration keep(Transactions<H> session, Duration lease) {
    Duration whole = Claims.withSlack(lease);
    Duration slack = whole.minus(lease);
    Duration half = slack.dividedBy(2);
    List<Lease> ending = held.toProlong(lease.plus(half), half);
    if (!ending.isEmpty()) {
      long asked = clock.getAsLong();
      Set<Integer> ours =
          session.run(PATIENCE, handle -> holding.hold(handle, held.claimId(), ending, whole));
      held.prolonged(asked, ending, ours, whole);
    }
    if (clock.getAsLong() - forgetsAt >= 0) {
      forgetsAt += FORGETS.toNanos();
      forgets = (forgets + 1) % Database.BUCKETS;
      held.remember(forgets, holding::forget);
    }
    return slack.dividedBy(4);
  }

  /** Until it is time to look again; meanwhile announces, and hears what others announce. */
  void await(Transactions<H> session, Duration pause) throws InterruptedException {
    long end = clock.getAsLong() + jittered(pause).toNanos();
    for (long rest = end - clock.getAsLong(); rest > 0 && !toLook; rest = end - clock.getAsLong()) {
      Duration most = min(Duration.ofNanos(rest), announceOrWait(session));
      if (listens) {
        int ignored = told.drainPermits();
        check(session, most);
      } else if (!told.tryAcquire(most.toNanos(), TimeUnit.NANOSECONDS)) {
        check(session, Duration.ZERO);
      }
      if (Thread.interrupted()) { // who listens does not notice it
        throw new InterruptedException();
      }
    }
    toLook = false;
  }

  /**
   * @throws OutboxException when the session has ended
   */
  private void check(Transactions<H> session, Duration most) {
    session
        .runSingle(PATIENCE, handle -> holding.check(handle, most))
        .ifPresent(
            announcement -> {
              if (held.heard(announcement)) {
                heard.run();
              }
            });
  }

  /** Announces what is to be announced, if the last time was long enough ago; or else when. */
  private Duration announceOrWait(Transactions<H> session) {
    if (toAnnounce.get() != null) {
      long wait = announcedAt + ANNOUNCES.toNanos() - clock.getAsLong();
      if (wait > 0) {
        return Duration.ofNanos(wait);
      }
      Announcement announcement = toAnnounce.getAndSet(null);
      announcedAt = clock.getAsLong();
      try {
        run(session, handle -> holding.announce(handle, announcement));
      } catch (OutboxException e) { // a hint, but the session may have ended
        check(session, Duration.ZERO);
      }
    }
    return listens && holds < Database.BUCKETS ? TURNS : CHECKS;
  }

  private static Duration min(Duration some, Duration other) {
    return some.compareTo(other) < 0 ? some : other;
  }

  private static Duration jittered(Duration pause) {
    double factor = 1 + JITTER * (2 * ThreadLocalRandom.current().nextDouble() - 1);
    return Duration.ofNanos((long) (pause.toNanos() * factor));
  }
}
