package dev.outbox.relay;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One worker: claim, publish, settle, and again. It never claims while its last claim is unsettled
 * (O1), unless it has left that one to its lease: then nobody has its keys.
 */
final class Worker {
  private static final Duration FIRST_TROUBLE = Duration.ofMillis(100);
  private static final Duration LONGEST_TROUBLE = Duration.ofSeconds(5);
  private static final Duration FIRST_SETTLE_RETRY = Duration.ofMillis(50);
  private static final Duration LONGEST_SETTLE_RETRY = Duration.ofSeconds(1);

  /** The most publish calls for each worker that may hang. */
  private static final int MAX_CALLS = 10;

  private static final long UNSETTLED = Duration.ofMinutes(1).toNanos();
  private static final long NEVER = Long.MAX_VALUE / 2;

  private static final long ASK_HANGING = Duration.ofMillis(500).toNanos();

  /** After a sleep this much longer than asked for, the process was stopped, the publisher too. */
  private static final long STOOD_STILL = Duration.ofSeconds(2).toNanos();

  record Shared(
      MessagePublisher publisher,
      Settings settings,
      Verdicts verdicts,
      Breaker breaker,
      OperatorPauses paused,
      Waiting waiting,
      RelayListener listener,
      ThreadPoolExecutor publishing,
      LongSupplier clock) {}

  /** How a round went; the next one begins at once or after a pause. */
  enum Round {
    /** Something was done: poll again at once. */
    BUSY,
    IDLE,
    /** The breaker is open, all is paused, or too many publish calls hang. */
    REFUSED,
    /** The store failed. */
    TROUBLE
  }

  private final String name;
  private final Shared shared;
  private final Claim.Source source;
  private final Settings settings;
  private final Verdicts verdicts;
  private final Breaker breaker;
  private final OperatorPauses paused;
  private final Waiting waiting;
  private final RelayListener listener;
  private final Backoff trouble;
  private @Nullable TimedClaim next;
  private boolean storeFailed;

  /**
   * From when on an empty settle shows that the store works. After one of decisions has failed that
   * is a minute later, when another may have settled them; after one that was refused, never.
   */
  private long emptySettleCounts;

  private long askAgain;

  /** Those at the beginning of the last claim. */
  private int announcements;

  /**
   * @param source where it gets its claims
   */
  Worker(String name, Claim.Source source, Shared shared) {
    this.name = name;
    this.source = source;
    this.shared = shared;
    settings = shared.settings();
    verdicts = shared.verdicts().by(name);
    breaker = shared.breaker();
    paused = shared.paused();
    waiting = shared.waiting();
    listener = shared.listener();
    trouble = new Backoff(FIRST_TROUBLE, LONGEST_TROUBLE);
    emptySettleCounts = now();
  }

  String name() {
    return name;
  }

  private long now() {
    return shared.clock().getAsLong();
  }

  /** Works until the relay stops, whatever is thrown, and leaves no claim behind. */
  void run() {
    Consumer<RuntimeException> teller = e -> failed("work", e);
    SupervisedLoop work = new SupervisedLoop(this::work, teller);
    SupervisedLoop pause = new SupervisedLoop(() -> rest(Round.TROUBLE), teller);
    while (!waiting.stopping()) {
      if (!work.again() && !pause.again()) {
        LockSupport.parkNanos(FIRST_TROUBLE.toNanos()); // needs no memory
      }
    }
    release();
    tellKeeper(Keeper::close); // the other workers give back what they have
  }

  /** An interrupt that is not the relay's stop is trouble like any other. */
  private void work() throws InterruptedException {
    try {
      rest(round());
    } catch (InterruptedException e) {
      if (!waiting.stopping()) {
        throw e;
      }
      Thread.currentThread().interrupt();
    }
  }

  private void rest(Round round) throws InterruptedException {
    switch (round) {
      case BUSY -> {}
      case IDLE -> waiting.idle(this, announcements);
      case REFUSED -> {
        giveBackUnused();
        waiting.pause(this, askAgain);
      }
      case TROUBLE -> waiting.pause(this, trouble.next());
    }
  }

  /** Claims, publishes and settles once. */
  Round round() throws InterruptedException {
    if (hanging()) {
      askAgain = ASK_HANGING;
      return Round.REFUSED;
    }
    if (next == null && paused.areOfAll()) {
      askAgain = OperatorPauses.READ_AGAIN;
      return Round.REFUSED;
    }
    TimedClaim timed = next;
    next = null;
    Breaker.Admission admission = breaker.admit(now());
    Batch batch = null;
    try {
      if (timed == null && admission.most() == 0) {
        askAgain = admission.askAgain();
        return Round.REFUSED;
      }
      if (timed == null) {
        timed = claim(admission.most());
      }
      if (timed == null) {
        return Round.TROUBLE;
      }
      boolean none = !timed.claim().messages().isEmpty() && paused.readAgain();
      batch = new Batch(none ? List.of() : timed.claim().messages(), verdicts, paused);
      if (!publish(batch, timed)) {
        return Round.BUSY;
      }
    } finally {
      breaker.done(admission, batch, now());
    }
    if (admission.test()) {
      batch.setAside(admission.most(), Duration.ofNanos(admission.aside()));
    }
    return settle(timed, batch);
  }

  /** Whether so many publish calls hang that more would only fill the process with threads. */
  private boolean hanging() {
    int calls = shared.publishing().getActiveCount();
    boolean hanging = next == null && calls >= settings.workers() * MAX_CALLS;
    if (hanging) {
      String problem = "%s publish calls have not returned; none is begun until one does";
      listener.on(new RelayEvent.PublisherBroken(name, problem.formatted(calls), null));
    }
    return hanging;
  }

  private @Nullable TimedClaim claim(int most) {
    long before = now();
    announcements = waiting.announcements();
    try {
      Claim claim = source.claim(settings.request(name, most));
      return claimed(claim, before);
    } catch (Throwable e) {
      boolean ignored = failed("claim", e);
      return null;
    }
  }

  private TimedClaim claimed(Claim claim, long before) {
    if (!claim.messages().isEmpty()) {
      waiting.working(this, claim.messages().size());
      if (claim.pollAgain()) {
        waiting.wake();
      }
      listener.on(new RelayEvent.Claimed(name, claim.messages(), Duration.ofNanos(now() - before)));
    }
    return new TimedClaim(claim, settings.lease(), before, shared.clock());
  }

  /** Returns false when the claim must be left to its lease. */
  private boolean publish(Batch batch, TimedClaim timed) throws InterruptedException {
    List<StoredMessage> messages = batch.publishable();
    if (messages.isEmpty() || waiting.stopping()) {
      return true;
    }
    long before = now();
    Publication publication =
        new Publication(
            shared.publisher(),
            messages,
            settings.publishTimeout(),
            shared.publishing(),
            shared.clock());
    await(publication, start(publication, timed), timed);
    for (Publication.Broken broken : publication.broken()) {
      listener.on(new RelayEvent.PublisherBroken(name, broken.problem(), broken.cause()));
    }
    if (publication.culpritUnknown()) {
      // Whoever hangs may be poison: the store counts leases that run out, and isolates it (S6).
      listener.on(new RelayEvent.Abandoned(name, messages, publication.tooLate()));
      return false;
    }
    long after = now();
    batch.published(publication.results(), after);
    listener.on(new RelayEvent.Published(name, messages, Duration.ofNanos(after - before)));
    for (StoredMessage message : batch.overtaking()) {
      String problem = "delivered %s, but not an earlier one of its key (P2)".formatted(message);
      listener.on(new RelayEvent.PublisherBroken(name, problem, null));
    }
    return true;
  }

  /** Where the process can have no more threads, nobody is to wait for the end of the lease. */
  private long start(Publication publication, TimedClaim timed) {
    try {
      return publication.start();
    } catch (RuntimeException | Error e) {
      next = timed;
      release();
      throw e;
    }
  }

  /** Returns when the publication is finished or given up. */
  private void await(Publication publication, long start, TimedClaim timed)
      throws InterruptedException {
    boolean done = false;
    long since = start;
    try {
      while (!awaitAWhile(publication, since, timed)) {
        if (publication.giveUpWhenLate()) {
          break;
        }
        if (waiting.stopping() && waiting.leftToPublish() <= 0) {
          publication.giveUp();
          boolean ignored = publication.await(waiting.leftToStop() / 2);
          break;
        }
        if (timed.untilRenewal() <= 0) {
          renew(timed);
        }
        giveBackUnused();
        since = now();
      }
      done = true;
    } finally {
      if (!done) {
        publication.giveUp();
      }
    }
  }

  /**
   * Returns whether it is finished. Where the process stood still, the publication gets that time
   * back.
   *
   * @param since when it was running for certain
   */
  private boolean awaitAWhile(Publication publication, long since, TimedClaim timed)
      throws InterruptedException {
    long time =
        Math.max(0, Math.min(waiting.lookUp(), Math.min(publication.left(), timed.untilRenewal())));
    if (publication.await(time)) {
      return true;
    }
    long stoodStill = now() - since - time;
    if (stoodStill > STOOD_STILL) {
      publication.prolong(stoodStill);
      listener.on(new RelayEvent.StoodStill(name, Duration.ofNanos(stoodStill)));
    }
    return false;
  }

  private void renew(TimedClaim timed) {
    try {
      timed.renew();
    } catch (Throwable e) { // the publisher goes on all the same
      listener.on(new RelayEvent.StoreFailed(name, "renew", SupervisedLoop.asRuntimeException(e)));
    }
  }

  /**
   * Settles, and tries again while the lease lasts. When all is well, the same call of the store
   * makes the next claim.
   */
  private Round settle(TimedClaim timed, Batch batch) throws InterruptedException {
    Set<Long> lost = new HashSet<>(timed.lost());
    batch.lost(lost);
    Map<Long, Decision> decisions = batch.decisions();
    boolean claimsNext = !decisions.isEmpty() && breaker.closed() && !waiting.stopping();
    Backoff pauses = new Backoff(FIRST_SETTLE_RETRY, LONGEST_SETTLE_RETRY);
    while (true) {
      try {
        lost.addAll(
            claimsNext ? settleAndClaim(timed, decisions) : timed.claim().settle(decisions));
        break;
      } catch (Throwable e) {
        boolean refused = failed("settle", e);
        if (!decisions.isEmpty()) {
          emptySettleCounts = now() + (refused ? NEVER : UNSETTLED);
        }
        long pause = pauses.next();
        if (!lasts(timed, pause)) {
          listener.on(
              new RelayEvent.Abandoned(
                  name, timed.claim().messages(), "settle failed: " + e.getMessage()));
          return Round.TROUBLE;
        }
        TimeUnit.NANOSECONDS.sleep(pause);
        claimsNext = false;
      }
    }
    if (!decisions.isEmpty() || now() - emptySettleCounts >= 0) {
      worked();
    }
    List<StoredMessage> taken = batch.lost(lost);
    if (!taken.isEmpty()) {
      listener.on(new RelayEvent.LeaseLost(name, taken));
    }
    batch.tell(listener, name);
    if (decisions.values().stream().anyMatch(Worker::isDueAgain)) {
      waiting.expectRetries();
    }
    return decisions.isEmpty() && !timed.claim().pollAgain() ? Round.IDLE : Round.BUSY;
  }

  private static boolean isDueAgain(Decision decision) {
    return !(decision instanceof Decision.Delivered || decision instanceof Decision.Expired);
  }

  private Set<Long> settleAndClaim(TimedClaim timed, Map<Long, Decision> decisions) {
    long before = now();
    Settled settled =
        source.settleAndClaim(
            timed.claim(), decisions, settings.request(name, settings.batchSize()));
    next = claimed(settled.next(), before);
    return settled.lost();
  }

  private boolean lasts(TimedClaim timed, long pause) {
    return pause < timed.left() && !(waiting.stopping() && pause > waiting.leftToStop());
  }

  /** Gives back a claim of which nothing was published. */
  void release() {
    TimedClaim unused = next;
    next = null;
    if (unused != null) {
      try {
        Set<Long> ignored = unused.claim().settle(Map.of());
      } catch (Throwable e) {
        listener.on(
            new RelayEvent.StoreFailed(name, "settle", SupervisedLoop.asRuntimeException(e)));
      }
    }
  }

  /** Gives kept keys back that nobody looks at, because all workers wait for the publisher. */
  private void giveBackUnused() {
    tellKeeper(Keeper::giveBackUnused);
  }

  private void tellKeeper(Consumer<Keeper> what) {
    if (source instanceof Keeper keeper) {
      try {
        what.accept(keeper);
      } catch (Throwable e) {
        listener.on(
            new RelayEvent.StoreFailed(name, "let go", SupervisedLoop.asRuntimeException(e)));
      }
    }
  }

  /** Returns whether trying again will not help. */
  private boolean failed(String operation, Throwable error) {
    storeFailed = true;
    RelayEvent.StoreFailed event =
        new RelayEvent.StoreFailed(name, operation, SupervisedLoop.asRuntimeException(error));
    listener.on(event);
    return event.isPermanent();
  }

  /**
   * Resets the back-off after a settle, because only that shows that the store works. If claims
   * succeed and settles fail, the backlog must not be published again with each lease.
   */
  private void worked() {
    trouble.reset();
    emptySettleCounts = now();
    if (storeFailed) {
      storeFailed = false;
      listener.on(new RelayEvent.StoreRecovered(name));
    }
  }
}
