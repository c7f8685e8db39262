package dev.outbox.store.core.internal;

import dev.outbox.store.core.internal.Holding.SeenBucket;
import dev.outbox.store.core.internal.HoldingRules.Load;
import dev.outbox.store.core.internal.HoldingRules.Look;
import dev.outbox.store.core.internal.HoldingRules.Plan;
import dev.outbox.store.core.internal.HoldingRules.Relay;
import dev.outbox.store.core.internal.HoldingRules.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Relays that hold buckets by {@link HoldingRules} on one database, in simulated time. All times
 * are in milliseconds since the start. A look and the writes that follow from it are some
 * milliseconds apart; a write changes only rows that are as they were read. The same seed gives the
 * same run.
 */
final class HoldingSimulation {
  static final int BUCKETS = 64;

  private static final long LEASE = 30_000;

  /** Below so many messages a second a relay calls itself calm, after {@link #CALM_AFTER}. */
  private static final double CALM = 1_000;

  private static final long CALM_AFTER = 10_000;

  /** What one relay delivers in a second. */
  private static final double CAPACITY = 5_000;

  /** After a start of the server nobody counts as gone: all sessions have ended at once. */
  private static final long SERVER_IS_NEW = 5_000;

  /** Why a bucket had nobody who delivers. */
  enum Cause {
    START,
    KILLED,
    STOPPED,
    GIVEN,
    STOOD_STILL,
    SESSION_LOST
  }

  /** Nobody delivered from this bucket, for so many milliseconds. */
  record Standstill(Cause cause, int bucket, long begin, long millis) {}

  /** A relay's process. */
  final class Process {
    private long number = ++lastNumber;
    private boolean lives = true;
    private boolean present = true;
    private State state = State.LIVES;
    private Load load = Load.CALM;
    private double capacity = CAPACITY;
    private long notCalmAt = Long.MIN_VALUE / 2;
    private long stoodStillUntil;
    private final Vacancies vacancies = new Vacancies();
    private long looks;

    private Relay relay() {
      return new Relay(number, state, load);
    }

    private boolean delivers() {
      return lives && now >= stoodStillUntil;
    }

    /** Messages a second, at most. */
    void canDeliver(double messages) {
      capacity = messages;
    }

    boolean isReady() {
      return state == State.READY;
    }

    int held() {
      int held = 0;
      for (long holder : holders) {
        held += holder == number ? 1 : 0;
      }
      return held;
    }
  }

  private record Event(long at, long order, Runnable action) {}

  private final Random random;
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparingLong(Event::at).thenComparingLong(Event::order));
  private final List<Process> processes = new ArrayList<>();
  private final long[] holders = new long[BUCKETS];
  private final long[] tokens = new long[BUCKETS];
  private final long[] leaseEnds = new long[BUCKETS];
  private final long[] emptySince = new long[BUCKETS];
  private final Cause[] causes = new Cause[BUCKETS];
  private final double[] rates = new double[BUCKETS];
  private final List<Standstill> standstills = new ArrayList<>();
  private long now;
  private long order;
  private long lastNumber;
  private long moves;
  private long inVain;
  private long serverStartedAt = -SERVER_IS_NEW;

  HoldingSimulation(long seed) {
    random = new Random(seed);
    Arrays.fill(causes, Cause.START);
  }

  // What a test does.

  List<Process> start(int count) {
    List<Process> started = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Process process = new Process();
      processes.add(process);
      started.add(process);
      at(random.nextInt(200), () -> step(process));
    }
    return started;
  }

  /** Messages a second, spread evenly. */
  void rate(double messages) {
    Arrays.fill(rates, messages / BUCKETS);
  }

  void kill(Process process) {
    process.lives = false;
    process.present = false;
    empties(process, Cause.KILLED);
  }

  /** In good order. */
  void stop(Process process) {
    process.state = State.LEAVING;
    at(0, () -> step(process));
  }

  void standStill(Process process, Duration duration) {
    process.stoodStillUntil = now + duration.toMillis();
    empties(process, Cause.STOOD_STILL);
    at(
        duration.toMillis(),
        () -> {
          for (int bucket = 0; bucket < BUCKETS; bucket++) {
            if (holders[bucket] == process.number && process.delivers()) {
              delivered(bucket);
            }
          }
        });
  }

  /** An administrator ends its session; it comes back with a new number, under which it goes on. */
  void endSession(Process process) {
    loseSession(process, 10 + random.nextInt(150));
  }

  /** The server fails, and another takes its place, without the sessions. */
  void failOver() {
    serverStartedAt = now;
    processes.stream().filter(p -> p.lives).forEach(p -> loseSession(p, random.nextInt(3_000)));
  }

  private void loseSession(Process process, long comesBackAfter) {
    process.present = false;
    at(
        comesBackAfter,
        () -> {
          if (process.lives) {
            long old = process.number;
            process.number = ++lastNumber;
            process.present = true;
            for (int bucket = 0; bucket < BUCKETS; bucket++) {
              if (holders[bucket] == old) {
                holders[bucket] = process.number;
              }
            }
          }
        });
  }

  void run(Duration duration) {
    long end = now + duration.toMillis();
    while (!events.isEmpty() && events.peek().at <= end) {
      Event event = events.remove();
      now = event.at;
      event.action.run();
    }
    now = end;
  }

  // What a test asks.

  List<Process> living() {
    return processes.stream()
        .filter(p -> p.lives)
        .sorted(Comparator.comparingLong(p -> p.number))
        .toList();
  }

  List<Process> holding() {
    return living().stream().filter(p -> p.held() > 0).toList();
  }

  /** How many leases went from one relay to another, or to nobody. */
  long moves() {
    return moves;
  }

  /** How many leases were to be taken that another was quicker to take. */
  long inVain() {
    return inVain;
  }

  /** How many looks all relays made. */
  long looks() {
    return processes.stream().mapToLong(p -> p.looks).sum();
  }

  /** Those that have ended, and those that last. */
  List<Standstill> standstills(Cause cause) {
    List<Standstill> all = new ArrayList<>(standstills);
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      if (causes[bucket] != null) {
        all.add(
            new Standstill(causes[bucket], bucket, emptySince[bucket], now - emptySince[bucket]));
      }
    }
    return all.stream().filter(s -> s.cause == cause).toList();
  }

  // The relays and the database.

  private void at(long millis, Runnable action) {
    events.add(new Event(now + millis, order++, action));
  }

  private void step(Process process) {
    if (!process.lives) {
      return;
    }
    if (now < process.stoodStillUntil) {
      at(process.stoodStillUntil - now, () -> step(process));
      return;
    }
    process.looks++;
    process.load = load(process);
    Look look = look(process);
    long nanos = Duration.ofMillis(now).toNanos();
    Plan plan =
        HoldingRules.decide(
            look, process.relay(), process.vacancies.seen(look.vacant(), nanos, nanos));
    if (now - serverStartedAt < SERVER_IS_NEW) {
      process.vacancies.forget();
    }
    process.state = plan.state();
    at(1 + random.nextInt(20), () -> write(process, look, plan));
  }

  private Look look(Process process) {
    return new Look(
        IntStream.range(0, BUCKETS)
            .mapToObj(
                bucket ->
                    new SeenBucket(
                        bucket,
                        tokens[bucket],
                        leaseEnds[bucket] <= now ? SeenBucket.FREE : holders[bucket]))
            .toList(),
        processes.stream()
            .filter(p -> p.present || p == process)
            .sorted(Comparator.comparingLong(p -> p.number))
            .map(Process::relay)
            .toList());
  }

  private void write(Process process, Look look, Plan plan) {
    if (!process.lives) {
      return;
    }
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      SeenBucket seen = look.buckets().get(bucket);
      boolean asSeen =
          tokens[bucket] == seen.token()
              && (holders[bucket] == seen.holder() || leaseEnds[bucket] <= now && seen.isFree());
      if (plan.take().contains(bucket) && !asSeen) {
        inVain++;
      } else if (plan.take().contains(bucket)) {
        holders[bucket] = process.number;
        tokens[bucket]++;
        leaseEnds[bucket] = now + LEASE;
        moves++;
        delivered(bucket);
      } else if (plan.give().contains(bucket) && holders[bucket] == process.number) {
        holders[bucket] = SeenBucket.FREE;
        moves++;
        empty(bucket, process.state == State.LEAVING ? Cause.STOPPED : Cause.GIVEN);
      } else if (holders[bucket] == process.number && leaseEnds[bucket] - now < LEASE * 2 / 3) {
        leaseEnds[bucket] = now + LEASE;
      }
    }
    if (process.state == State.LEAVING && process.held() == 0) {
      process.lives = false;
      process.present = false;
      return;
    }
    long next = plan.next().toMillis();
    at(next + random.nextInt((int) (next / 5) + 1) - next / 10, () -> step(process));
  }

  private Load load(Process process) {
    double rate = 0;
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      rate += holders[bucket] == process.number ? rates[bucket] : 0;
    }
    if (rate >= CALM) {
      process.notCalmAt = now;
    }
    return rate > process.capacity
        ? Load.BUSY
        : now - process.notCalmAt < CALM_AFTER ? Load.WORKING : Load.CALM;
  }

  private void empties(Process process, Cause cause) {
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      if (holders[bucket] == process.number) {
        empty(bucket, cause);
      }
    }
  }

  private void empty(int bucket, Cause cause) {
    if (causes[bucket] == null) {
      causes[bucket] = cause;
      emptySince[bucket] = now;
    }
  }

  private void delivered(int bucket) {
    if (causes[bucket] != null) {
      standstills.add(
          new Standstill(causes[bucket], bucket, emptySince[bucket], now - emptySince[bucket]));
      causes[bucket] = null;
    }
  }
}
