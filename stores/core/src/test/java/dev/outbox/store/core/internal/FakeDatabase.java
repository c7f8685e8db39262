package dev.outbox.store.core.internal;

import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.core.internal.Database.Limits;
import dev.outbox.store.core.internal.Database.Look;
import dev.outbox.store.core.internal.Database.Pending;
import dev.outbox.store.core.internal.Database.Release;
import dev.outbox.store.core.internal.Row.Claimable;
import dev.outbox.store.core.internal.Row.ToMove;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Messages in buckets and who holds those, with transactions that fail when told. It writes down
 * who asked what, and what nobody may do.
 */
final class FakeDatabase {
  private static final Duration LONG = Duration.ofHours(1);

  /** What befalls a transaction. */
  enum Trouble {
    NONE,
    /** It is run again by itself. */
    CONFLICT,
    ROLLBACK,
    LOST_REPLY
  }

  /** The next transactions', in turn. */
  final Queue<Trouble> troubles = new ArrayDeque<>();

  /** One for each statement: by whom, and which. */
  final List<String> asked = new ArrayList<>();

  final List<String> misuse = new ArrayList<>();

  /** What was done by the database's own steps of housekeeping. */
  final List<String> ownSteps = new ArrayList<>();

  /** How many transactions were run. */
  int ran;

  /** The buckets whose blocked keys were put right, call by call. */
  List<Integer> blocked = List.of();

  final List<List<Integer>> restored = new ArrayList<>();

  /** What was given back. */
  final List<Release> released = new ArrayList<>();

  /** In nanoseconds; nothing but the test, and moving messages, moves it. */
  long clock;

  Duration moveTakes = Duration.ZERO;

  /** How long each lease still lasts. */
  Duration left = LONG;

  /** How many messages one statement deletes that locks their buckets. */
  int mostDeletedWithLock;

  /** Whether buckets hand out their messages one at a time. */
  boolean singly;

  boolean cannotLook;

  boolean looksAreSure = true;

  boolean looksAreDurable = true;

  /** What happens between a look's snapshot and its answer. */
  Consumer<List<Lease>> afterLook = leases -> {};

  /** What restoring and purging found to do, in turn; nothing when it is empty. */
  final Queue<Boolean> chores = new ArrayDeque<>();

  final List<Session> sessions = new ArrayList<>();
  final Transactions<String> transactions = new Session("store");
  private final boolean leasesApart;

  /** By bucket, then by sequence: whether the message must be moved. */
  private Map<Integer, TreeMap<Long, Boolean>> messages = new TreeMap<>();

  private Map<Integer, UUID> owners = new HashMap<>();

  /** Grow each time a bucket is leased. */
  private final Map<Integer, Long> tokens = new HashMap<>();

  /** Leases that a rollback does not undo. */
  private final Map<Integer, UUID> leasedApart = new HashMap<>();

  private boolean began;

  FakeDatabase(boolean leasesApart) {
    this.leasesApart = leasesApart;
  }

  void add(int bucket, long sequence, boolean mustMove) {
    messages.computeIfAbsent(bucket, b -> new TreeMap<>()).put(sequence, mustMove);
  }

  void add(int bucket, long from, long to) {
    for (long sequence = from; sequence <= to; sequence++) {
      add(bucket, sequence, false);
    }
  }

  void empty(int bucket) {
    messages.remove(bucket);
  }

  /** Somebody takes the bucket over. */
  void lose(int bucket) {
    owners.put(bucket, UUID.randomUUID());
  }

  void leasesRunOut() {
    owners.clear();
  }

  /** A lease for a relay, as its holder takes it. */
  Lease take(int bucket, UUID claimId) {
    owners.put(bucket, claimId);
    return lease(bucket, left);
  }

  Set<Integer> held() {
    return owners.keySet();
  }

  List<Long> left() {
    return messages.values().stream().flatMap(bucket -> bucket.keySet().stream()).toList();
  }

  /** Of each claim's transactions. */
  List<Integer> closed() {
    return sessions.stream().map(session -> session.closed).toList();
  }

  Database<String> asked() {
    return Fakes.database(
        (proxy, method, a) -> {
          if (a != null && !method.getName().equals("ownSteps")) {
            asked.add(a[0] + ": " + method.getName());
          }
          Object answer =
              switch (method.getName()) {
                case "mostBuckets" -> 3;
                case "archives" -> false;
                case "leasesInTransaction" -> !leasesApart;
                case "mostDeletedWithLock" -> mostDeletedWithLock;
                case "lease" -> lease((UUID) a[1], (int) a[3]);
                case "lockHeld" -> lockHeld((UUID) a[1], (Collection<Lease>) a[2]);
                case "makeDurable" ->
                    lockHeld((UUID) a[1], (Collection<Lease>) a[2]).size()
                        == ((Collection<Lease>) a[2]).size();
                case "renew" ->
                    lockHeld((UUID) a[1], (Collection<Lease>) a[2]).stream()
                        .map(Lease::bucket)
                        .collect(Collectors.toSet());
                case "look" ->
                    look((UUID) a[1], (List<Lease>) a[2], (Limits) a[3], (Set<Long>) a[4]);
                case "readPending" -> readPending((List<Lease>) a[1], (Limits) a[2]);
                case "move" -> {
                  clock += moveTakes.toNanos();
                  yield remove((Collection<Row>) a[1]);
                }
                case "delete" -> {
                  remove((Collection<Row>) a[2]);
                  yield List.copyOf((Collection<Lease>) a[1]);
                }
                case "lockHeldAndDelete" -> {
                  List<Lease> held = lockHeld((UUID) a[1], (Collection<Lease>) a[2]);
                  Set<Integer> buckets =
                      held.stream().map(Lease::bucket).collect(Collectors.toSet());
                  remove(
                      ((Collection<Row>) a[3])
                          .stream().filter(row -> buckets.contains(row.bucket())).toList());
                  yield held;
                }
                case "release" -> release((UUID) a[1], (List<Release>) a[2]);
                case "restore", "purgeDedup" -> !chores.isEmpty() && chores.remove();
                case "deadLetters" -> List.of();
                case "ownSteps" -> List.of(ownStep(1, a), ownStep(2, a));
                case "blockedBuckets" -> blocked;
                case "restoreBlockedKeys" -> restored.add((List<Integer>) a[1]);
                case "lower", "count", "freeHaltedByNothing" -> null;
                default -> throw new UnsupportedOperationException(method.getName());
              };
          began |= a != null;
          return answer;
        });
  }

  private Consumer<String> ownStep(int number, Object[] a) {
    return handle -> {
      asked.add(handle + ": own step");
      ownSteps.add("%d of round %s, %s".formatted(number, a[0], a[1]));
    };
  }

  private List<Lease> lease(UUID claimId, int most) {
    if (leasesApart && began) {
      misuse.add("lease is not first in its transaction");
    }
    List<Integer> taken =
        messages.keySet().stream()
            .filter(bucket -> !messages.get(bucket).isEmpty())
            .filter(
                bucket ->
                    !owners.containsKey(bucket)
                        || (leasesApart && owners.get(bucket).equals(claimId)))
            .limit(most)
            .toList();
    taken.forEach(bucket -> owners.put(bucket, claimId));
    if (leasesApart) {
      taken.forEach(bucket -> leasedApart.put(bucket, claimId));
    }
    return taken.stream().map(bucket -> lease(bucket, LONG)).toList();
  }

  private Lease lease(int bucket, Duration lasts) {
    long token = tokens.merge(bucket, 1L, Long::sum);
    return new Lease(bucket, token, Lease.STATELESS, false, false, singly, lasts, 0, clock);
  }

  private List<Lease> lockHeld(UUID claimId, Collection<Lease> leases) {
    return leases.stream()
        .filter(lease -> claimId.equals(owners.get(lease.bucket())))
        .filter(lease -> tokens.get(lease.bucket()) == lease.token())
        .map(lease -> lease.goesOn(left, false, false, lease.state()))
        .toList();
  }

  private Optional<Look> look(UUID claimId, List<Lease> leases, Limits limits, Set<Long> durable) {
    if (began) {
      misuse.add("look is not first in its transaction");
    }
    if (cannotLook) {
      return Optional.empty();
    }
    boolean sure = looksAreSure && lockHeld(claimId, leases).size() == leases.size();
    return Optional.of(
        sure
            ? found(leases, limits, durable)
            : new Look(new Pending(List.of(), List.of()), false, false));
  }

  private Look found(List<Lease> leases, Limits limits, Set<Long> durable) {
    Pending found = readPending(leases, limits);
    boolean isAnnounced = found.rows().stream().allMatch(r -> durable.contains(r.sequence()));
    Look look = new Look(found, true, looksAreDurable || isAnnounced);
    afterLook.accept(leases);
    return look;
  }

  private Pending readPending(List<Lease> leases, Limits limits) {
    List<Row> rows = new ArrayList<>();
    for (Lease lease : leases) {
      messages.getOrDefault(lease.bucket(), new TreeMap<>()).entrySet().stream()
          .limit(limits.messages())
          .forEach(message -> rows.add(row(lease.bucket(), message.getKey(), message.getValue())));
    }
    return new Pending(rows, leases);
  }

  static Row row(int bucket, long sequence, boolean mustMove) {
    String key = "key of " + bucket;
    return mustMove
        ? new ToMove(bucket, sequence, key, Status.PENDING, sequence, Status.SCHEDULED)
        : new Claimable(
            bucket,
            sequence,
            key,
            Status.PENDING,
            sequence,
            StoredMessage.undecodable(sequence, key, null, 0, Instant.EPOCH, "not read"),
            null);
  }

  private Object remove(Collection<Row> rows) {
    rows.forEach(
        row -> messages.getOrDefault(row.bucket(), new TreeMap<>()).remove(row.sequence()));
    return null;
  }

  private Object release(UUID claimId, List<Release> releases) {
    released.addAll(releases);
    releases.forEach(release -> owners.remove(release.lease().bucket(), claimId));
    return null;
  }

  /** Transactions of the store, or of one claim. */
  final class Session implements Transactions<String> {
    private final String name;
    int closed;

    Session(String name) {
      this.name = name;
    }

    @Override
    public Transactions<String> forClaim() {
      Session session = new Session("claim " + (sessions.size() + 1));
      sessions.add(session);
      return session;
    }

    @Override
    public void close() {
      closed++;
      if (this == transactions) {
        misuse.add("the store's own transactions are closed");
      }
    }

    @Override
    public <R> R run(Duration patience, Work<String, R> work) {
      if (closed > 0) {
        misuse.add(name + " runs a transaction and is closed");
      }
      ran++;
      Trouble trouble = troubles.isEmpty() ? Trouble.NONE : troubles.remove();
      if (trouble == Trouble.CONFLICT || trouble == Trouble.ROLLBACK) {
        rolledBack(work);
      }
      if (trouble == Trouble.ROLLBACK) {
        throw new TransientOutboxException("rolled back");
      }
      began = false;
      R result = work.in(name);
      if (trouble == Trouble.LOST_REPLY) {
        throw new TransientOutboxException("the reply was lost");
      }
      return result;
    }

    private void rolledBack(Work<String, ?> work) {
      Map<Integer, UUID> ownersBefore = new HashMap<>(owners);
      Map<Integer, TreeMap<Long, Boolean>> messagesBefore =
          messages.entrySet().stream()
              .collect(
                  Collectors.toMap(
                      Map.Entry::getKey,
                      e -> new TreeMap<>(e.getValue()),
                      (a, b) -> a,
                      TreeMap::new));
      began = false;
      leasedApart.clear();
      Object ignored = work.in(name);
      messages = messagesBefore;
      owners = ownersBefore;
      owners.putAll(leasedApart);
    }
  }
}
