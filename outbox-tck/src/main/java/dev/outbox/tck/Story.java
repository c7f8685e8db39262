package dev.outbox.tck;

import static dev.outbox.tck.FieldTests.shown;
import static java.util.Objects.requireNonNull;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.HousekeepingStore;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.RawRows.RawRow;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.opentest4j.AssertionFailedError;

/**
 * Steps, played on a store and on the {@link Reference}, and what is compared.
 *
 * <p>Where the contract determines the result, both must have the same: duplicates; what a settle
 * or a renewal says was lost; dead letters with their attempts and errors; how many messages there
 * are; in the end, all that was appended and is not gone. Where it leaves a choice, as in which
 * keys a claim brings, the store's choice must be one that the reference allows at that moment, and
 * the reference follows it:
 *
 * <ul>
 *   <li>Of each key that a claim brings, it brings what is due there from the oldest on, and nobody
 *       holds the key. Only messages that were delayed, requeued or committed late may come before
 *       their place or after it.
 *   <li>Behind messages that have not failed, one whose retry is due may come along, and those
 *       behind it. In the reference it comes alone, so what came along is given back undecided.
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
final class Story<T> extends StoreTests<T> implements AutoCloseable {

  /** Dedup keys are remembered for longer than the time of one step and shorter than two. */
  static final Duration DEDUP_WINDOW = Duration.ofHours(2);

  private static final int LARGE = 600;
  private static final int FEW_BYTES = 700;
  private static final int MANY_BYTES = 1_000_000;

  /** From so many leases on that ran out, attempts may be counted at the claim. */
  private static final int SOME_CRASHES = 2;

  private final List<String> names;
  private final @Nullable MovesClock clock;
  private final Map<String, Integer> seen;
  private final Reference reference;
  private final List<String> lines = new ArrayList<>();
  private final Map<UUID, Message> messages = new LinkedHashMap<>();
  private final Map<Integer, Open> open = new TreeMap<>();
  private final List<Held> claims = new ArrayList<>();
  private int places;
  private int crashes;
  private int errors;
  private boolean timePassed;
  private String rule = "S2";

  /** How many lines there were before the end began. */
  private int played = Integer.MAX_VALUE;

  /**
   * @param names of keys
   * @param clock null when time cannot pass
   * @param dedupWindow what the store's is
   * @param seen counts what happened that was worth a story
   */
  Story(
      PatientFixture<T> tck,
      List<String> names,
      @Nullable MovesClock clock,
      Duration dedupWindow,
      Map<String, Integer> seen) {
    super(tck);
    this.names = names;
    this.clock = clock;
    this.seen = seen;
    reference = new Reference(dedupWindow, tck.is(SequencesAtCommit.class));
  }

  private static final class Message {
    final int number;
    final OutboxMessage content;
    boolean committed;

    /**
     * In the order of all: that of appends, or where sequences come with the commit, of commits.
     */
    int place;

    /** 0 until it is known. */
    long sequence;

    /** It was delayed, requeued or committed late: it may come before its place, and after it. */
    boolean passable;

    /** When its retry is due, null when it waits for none. */
    @Nullable Instant retryAt;

    /** A dead letter that halts its key. */
    boolean blocks;

    /** Attempts that the store counted at claims which were lost (S6), and how many it may. */
    int counted;

    int mayCount;

    Message(int number, OutboxMessage content) {
      this.number = number;
      this.content = content;
      place = number;
    }

    @Override
    public String toString() {
      return String.valueOf(number);
    }
  }

  private record Open<T>(
      OpenTransaction<T> actual,
      Reference.Transaction expected,
      List<Message> appended,
      AtomicBoolean dedup) {}

  /** What a claim holds of a key. */
  private static final class Grip {
    final Claim expected;
    Instant end;

    /** Something was claimed after its lease had ended. */
    boolean doubtful;

    boolean lost;

    Grip(Claim expected, Instant end) {
      this.expected = expected;
      this.end = end;
    }
  }

  private static final class Held {
    final int number;
    final Claim actual;
    final Map<Long, Message> messages = new LinkedHashMap<>();
    final Map<String, Grip> grips = new LinkedHashMap<>();
    final Set<Message> comesAlong = new HashSet<>();
    @Nullable Map<Long, Decision> decisions;

    Held(int number, Claim actual) {
      this.number = number;
      this.actual = actual;
    }

    Map<Long, Message> of(String key) {
      Map<Long, Message> some = new LinkedHashMap<>(messages);
      some.values().removeIf(m -> !m.content.key().equals(key));
      return some;
    }
  }

  // ---- what is told

  /**
   * What happened, a line each. Empty claims at the end, by which it is seen that nothing is left,
   * are not told, unless the last says what is wrong.
   */
  List<String> lines() {
    List<String> told = new ArrayList<>(lines.subList(0, Math.min(played, lines.size())));
    for (int i = told.size(); i < lines.size(); i++) {
      String line = lines.get(i);
      if (i == lines.size() - 1 || !(line.startsWith("claim ") && line.endsWith(": nothing"))) {
        told.add(line);
      }
    }
    return told;
  }

  private void say(String line, Object... values) {
    lines.add(line.formatted(values));
  }

  private void add(String more) {
    lines.set(lines.size() - 1, lines.get(lines.size() - 1) + more);
  }

  private void saw(String what) {
    seen.merge(what, 1, Integer::sum);
  }

  private static void check(String rule, boolean condition, String otherwise, Object... values) {
    if (!condition) {
      throw new AssertionFailedError(rule + ": " + otherwise.formatted(values));
    }
  }

  private static String list(Iterable<?> things) {
    String list = String.join(", ", () -> strings(things).iterator());
    return list.isEmpty() ? "nothing" : list;
  }

  private static List<CharSequence> strings(Iterable<?> things) {
    List<CharSequence> strings = new ArrayList<>();
    things.forEach(thing -> strings.add(String.valueOf(thing)));
    return strings;
  }

  // ---- steps

  /** Which rule is broken when, after this step, there are not as many messages as should be. */
  private static String ruleOf(Step step) {
    if (step instanceof Step.Append append) {
      return append.messages().stream().anyMatch(m -> m.content() == Step.Content.WITH_DEDUP_KEY)
          ? "A4"
          : "A1";
    } else if (step instanceof Step.InsertByPlainSql) {
      return "A6";
    } else if (step instanceof Step.EndTransaction) {
      return "A1";
    } else if (step instanceof Step.SettleAgain || step instanceof Step.SettleWhatItHasNot) {
      return "S1";
    } else if (step instanceof Step.DecideOnDeadLetter) {
      return "O3";
    }
    return "S2";
  }

  void play(Step step) {
    rule = ruleOf(step);
    if (step instanceof Step.Append append) {
      append(append);
    } else if (step instanceof Step.InsertByPlainSql insert) {
      insert(insert);
    } else if (step instanceof Step.EndTransaction end) {
      end(end);
    } else if (step instanceof Step.Take take) {
      take(take);
    } else if (step instanceof Step.Settle settle) {
      ifAny(unsettled(), settle.claim(), held -> settle(held, settle.verdicts()));
    } else if (step instanceof Step.SettleAndTake settle) {
      ifAny(unsettled(), settle.claim(), held -> settleAndTake(held, settle));
    } else if (step instanceof Step.SettleAgain again) {
      ifAny(settled(), again.claim(), this::settleAgain);
    } else if (step instanceof Step.SettleWhatItHasNot other) {
      ifAny(unsettled(), other.claim(), this::settleWhatItHasNot);
    } else if (step instanceof Step.Renew renew) {
      ifAny(unsettled(), renew.claim(), held -> renew(held, renew.hours()));
    } else if (step instanceof Step.TimePasses time) {
      letPass(time.hours());
    } else if (step instanceof Step.DecideOnDeadLetter decide) {
      decide(decide);
    } else if (store() instanceof HousekeepingStore housekeeping) {
      say("housekeeping");
      run("housekeep", housekeeping::housekeep);
      compare();
    }
  }

  private static <R> void ifAny(List<R> some, int which, Consumer<R> action) {
    if (!some.isEmpty()) {
      action.accept(some.get(which % some.size()));
    }
  }

  /** The latest first. */
  private List<Held> unsettled() {
    return inReverse(claims.stream().filter(c -> c.decisions == null).toList());
  }

  private List<Held> settled() {
    return inReverse(claims.stream().filter(c -> c.decisions != null).toList());
  }

  private static <R> List<R> inReverse(List<R> list) {
    List<R> reversed = new ArrayList<>(list);
    Collections.reverse(reversed);
    return reversed;
  }

  // ---- producers

  private void append(Step.Append append) {
    boolean dedup =
        append.messages().stream().anyMatch(m -> m.content() == Step.Content.WITH_DEDUP_KEY);
    if (dedup && mustNotTakeDedupKey(append.transaction())) {
      return;
    }
    List<Message> some = append.messages().stream().map(this::message).toList();
    inTransaction(
        append.transaction(),
        "appends " + some.stream().map(Story::described).collect(Collectors.joining(", ")),
        open -> {
          open.dedup.compareAndSet(false, dedup);
          Set<UUID> actual =
              open.actual.get(
                  "append", open.actual.startAppend(some.stream().map(m -> m.content).toList()));
          for (Message message : some) {
            boolean stored = open.expected.append(message.content);
            check(
                "A4",
                stored != actual.contains(message.content.id()),
                stored
                    ? "append says that message %s is a duplicate, and it is none"
                    : "append does not say that message %s is a duplicate",
                message);
            if (stored) {
              open.appended.add(message);
            } else {
              add(", " + message + " a duplicate");
              saw("duplicate");
            }
          }
        });
  }

  /** An append would wait for another transaction; or fail, where transactions are snapshots. */
  private boolean mustNotTakeDedupKey(int transaction) {
    return open.entrySet().stream()
            .anyMatch(e -> e.getKey() != transaction && e.getValue().dedup.get())
        || (transaction != 0 && tck.is(FailsOnConflict.class));
  }

  private Message message(Step.Written written) {
    int number = messages.size() + 1;
    String key = names.get(written.key());
    UUID id = UUID.nameUUIDFromBytes(("message " + number).getBytes(StandardCharsets.UTF_8));
    OutboxMessage.Builder builder =
        message(key)
            .id(id)
            .payload((written.content() == Step.Content.LARGE ? "x".repeat(LARGE) : "") + number);
    switch (written.content()) {
      case DELAYED -> builder.deliverAfter(Duration.ofHours(1));
      case WITH_DEDUP_KEY -> builder.dedupKey("request");
      case UNORDERED -> builder.unordered();
      default -> {}
    }
    return add(builder.build());
  }

  private Message add(OutboxMessage content) {
    Message message = new Message(messages.size() + 1, content);
    message.passable = content.deliverAfter() != null;
    messages.put(content.id(), message);
    return message;
  }

  private static String described(Message message) {
    OutboxMessage m = message.content;
    return "%d (%s%s%s%s)"
        .formatted(
            message.number,
            m.key().equals(m.id().toString()) ? "unordered" : "key " + shown(m.key()),
            m.deliverAfter() != null ? ", due in 1 h" : "",
            m.dedupKey() != null ? ", dedup key" : "",
            m.payloadSize() >= LARGE ? ", large" : "");
  }

  private void insert(Step.InsertByPlainSql insert) {
    if (!tck.is(RawRows.class)) {
      return;
    }
    RawRows<T> rows = tck.fixture(RawRows.class);
    int number = messages.size() + 1;
    UUID id = UUID.nameUUIDFromBytes(("message " + number).getBytes(StandardCharsets.UTF_8));
    byte[] payload = String.valueOf(number).getBytes(StandardCharsets.UTF_8);
    String key = names.get(insert.key());
    // By the test's clock, from which the store's may be hours away later on.
    boolean delayed = insert.delayed() && !timePassed;
    RawRow row =
        new RawRow(
            id,
            "order",
            key,
            "OrderChanged",
            payload,
            null,
            delayed ? Instant.now().plus(Duration.ofHours(1)) : null);
    OutboxMessage.Builder same = message(key).id(id).payload(payload);
    Message message = add((delayed ? same.deliverAfter(Duration.ofHours(1)) : same).build());
    inTransaction(
        insert.transaction(),
        "inserts by plain SQL " + described(message),
        open -> {
          open.actual.get(
              "insert",
              open.actual.start(
                  t -> {
                    rows.insertRaw(t, row);
                    return true;
                  }));
          open.expected.append(message.content);
          open.appended.add(message);
        });
  }

  private void inTransaction(int number, String what, Consumer<Open<T>> action) {
    say("transaction %s%s", number == 0 ? "" : number + " ", what);
    Open<T> transaction =
        open.computeIfAbsent(
            number,
            n ->
                new Open<>(
                    new OpenTransaction<>(tck),
                    reference.begin(),
                    new ArrayList<>(),
                    new AtomicBoolean()));
    action.accept(transaction);
    if (number == 0) {
      end(0, true);
      compare();
    } else {
      add(", and stays open");
    }
  }

  private void end(Step.EndTransaction end) {
    if (open.containsKey(end.transaction())) {
      say("transaction %d %s", end.transaction(), end.commits() ? "commits" : "rolls back");
      end(end.transaction(), end.commits());
      compare();
    }
  }

  private void end(int number, boolean commits) {
    Open<T> transaction = requireNonNull(open.remove(number));
    if (commits) {
      transaction.actual.commit();
      transaction.appended.forEach(this::committed);
    } else {
      transaction.actual.rollback();
    }
    transaction.expected.end(commits);
  }

  private void committed(Message message) {
    message.committed = true;
    if (tck.is(SequencesAtCommit.class)) {
      message.place = ++places;
    }
    boolean late =
        messages.values().stream()
            .anyMatch(
                m ->
                    m.committed
                        && m.place > message.place
                        && m.content.key().equals(message.content.key()));
    if (late) {
      message.passable = true;
      saw("late commit");
    }
  }

  // ---- claims

  private void take(Step.Take take) {
    say("claim %s", described(take));
    follow(claim(request(take)), Duration.ofHours(take.hours()), take);
  }

  private static Claim.Request request(Step.Take take) {
    return new Claim.Request(
        "worker " + take.worker(),
        take.most(),
        take.fewBytes() ? FEW_BYTES : MANY_BYTES,
        Duration.ofHours(take.hours()));
  }

  private String described(Step.Take take) {
    return "%d (worker %d, %d h, at most %d%s): "
        .formatted(
            claims.size() + 1,
            take.worker(),
            take.hours(),
            take.most(),
            take.fewBytes() ? " of " + FEW_BYTES + " bytes" : "");
  }

  /** Checks that the reference allows this claim, and has it there too. */
  private void follow(Claim actual, Duration lease, Step.Take take) {
    Held claim = new Held(claims.size() + 1, actual);
    actual.messages().forEach(m -> claim.messages.put(m.sequence(), known(m)));
    add(list(claim.messages.values()));
    if (actual.messages().isEmpty()) {
      checkNothingDue();
      return;
    }
    int count = actual.messages().size();
    int bytes = claim.messages.values().stream().mapToInt(m -> m.content.payloadSize()).sum();
    check("C2", claim.messages.size() == count, "the claim brings a message twice");
    check("C2", count <= take.most(), "the claim brings %d messages", count);
    check(
        "C2",
        count == 1 || bytes <= (take.fewBytes() ? FEW_BYTES : MANY_BYTES),
        "the claim brings %d bytes",
        bytes);
    doubtWhatHasEnded();
    Map<String, List<StoredMessage>> byKey =
        actual.messages().stream()
            .collect(
                Collectors.groupingBy(StoredMessage::key, LinkedHashMap::new, Collectors.toList()));
    byKey.forEach((key, some) -> claim.grips.put(key, follow(claim, key, some, lease)));
    claims.add(claim);
  }

  private Message known(StoredMessage brought) {
    check("A3", brought.problem() == null, "the store cannot decode %s", brought);
    Message message = messages.get(brought.message().id());
    check("A1", message != null, "nobody appended %s", brought);
    OutboxMessage content = requireNonNull(message).content;
    check("A1", message.committed, "message %s comes though it is not committed", message);
    check(
        "A3",
        brought.key().equals(content.key())
            && Arrays.equals(brought.message().payload(), content.payload())
            && Objects.equals(brought.message().dedupKey(), content.dedupKey()),
        "message %s does not come as it was appended: %s",
        message,
        brought);
    check(
        "S2",
        message.sequence == 0 || message.sequence == brought.sequence(),
        "message %s has another sequence: it was %d and is %d",
        message,
        message.sequence,
        brought.sequence());
    message.sequence = brought.sequence();
    return message;
  }

  private Grip follow(Held claim, String key, List<StoredMessage> brought, Duration lease) {
    List<StoredMessage> due = reference.due(key);
    List<Message> allowed = due.stream().map(m -> requireNonNull(messages.get(id(m)))).toList();
    List<Message> chosen = brought.stream().map(m -> requireNonNull(messages.get(id(m)))).toList();
    checkTakeover(key);
    for (Message message : chosen) {
      if (!allowed.contains(message) && mayComeAlong(claim, message, chosen)) {
        claim.comesAlong.add(message);
        saw("retry comes along");
      }
    }
    checkOrder(key, chosen, allowed, claim.comesAlong);
    Map<UUID, Integer> expected = new HashMap<>();
    due.forEach(m -> expected.put(id(m), m.attempts()));
    for (StoredMessage m : brought) {
      if (expected.containsKey(id(m))) {
        compareAttempts(m, requireNonNull(expected.get(id(m))));
      }
    }
    return new Grip(reference.claim(key, lease), reference.now().plus(lease));
  }

  private void checkOrder(
      String key, List<Message> chosen, List<Message> allowed, Set<Message> comeAlong) {
    List<Message> inOrder = new ArrayList<>(chosen);
    inOrder.sort(Comparator.comparing(m -> m.place));
    List<Message> due = new ArrayList<>(chosen);
    due.removeAll(comeAlong);
    check(
        ruleOfOrder(due, allowed),
        chosen.equals(inOrder)
            && allowed.containsAll(due)
            && startsWith(withoutPassable(allowed), withoutPassable(due)),
        "the claim brings %s of key %s, where %s may come, in this order",
        list(chosen),
        shown(key),
        list(allowed));
  }

  /** Which rule is broken when these come, and not all of them may. */
  private String ruleOfOrder(List<Message> come, List<Message> allowed) {
    Message first =
        come.stream().filter(message -> !allowed.contains(message)).findFirst().orElse(null);
    if (first == null) {
      return "C2";
    }
    List<Message> others =
        messages.values().stream()
            .filter(m -> m != first && m.content.key().equals(first.content.key()))
            .toList();
    if (others.stream().anyMatch(m -> m.blocks)) {
      return "O3";
    } else if (others.stream().anyMatch(m -> m.retryAt != null)) {
      return "O2";
    }
    return first.content.deliverAfter() != null && first.retryAt == null ? "O4" : "S2";
  }

  private static List<Message> withoutPassable(List<Message> some) {
    return some.stream().filter(m -> !m.passable).toList();
  }

  private static boolean startsWith(List<?> list, List<?> start) {
    return start.size() <= list.size() && list.subList(0, start.size()).equals(start);
  }

  /**
   * Behind one that has not failed, a message whose retry is due may come along, with those behind
   * it. The reference has it come alone, so they are given back.
   */
  private boolean mayComeAlong(Held claim, Message message, List<Message> chosen) {
    int at = chosen.indexOf(message);
    if (at == 0 || chosen.get(at - 1).place > message.place) {
      return false;
    }
    return claim.comesAlong.contains(chosen.get(at - 1))
        || (message.retryAt != null && !message.retryAt.isAfter(reference.now()));
  }

  private void checkTakeover(String key) {
    for (Held other : unsettled()) {
      Grip grip = other.grips.get(key);
      if (grip != null && !grip.lost) {
        check(
            "C1",
            !isLive(grip),
            "the claim brings key %s, which claim %d holds",
            shown(key),
            other.number);
        grip.lost = true;
        saw("takeover");
      }
    }
  }

  private void compareAttempts(StoredMessage brought, int expected) {
    Message message = requireNonNull(messages.get(id(brought)));
    int more = brought.attempts() - expected - message.counted;
    check(
        "S2",
        more >= 0 && more <= message.mayCount,
        "message %s comes with %d attempts instead of %d",
        message,
        brought.attempts(),
        expected + message.counted);
    if (more > 0) {
      message.counted += more;
      message.mayCount -= more;
      saw("counted at the claim");
    }
  }

  private boolean isLive(Grip grip) {
    return !grip.lost && grip.end.isAfter(reference.now());
  }

  private void doubtWhatHasEnded() {
    for (Held claim : unsettled()) {
      for (Map.Entry<String, Grip> grip : claim.grips.entrySet()) {
        if (!isLive(grip.getValue()) && !grip.getValue().doubtful && !grip.getValue().lost) {
          grip.getValue().doubtful = true;
          if (tck.is(FindsPoison.class) && ++crashes > SOME_CRASHES) {
            claim.of(grip.getKey()).values().forEach(m -> m.mayCount++);
          }
        }
      }
    }
  }

  private void checkNothingDue() {
    if (unsettled().stream().flatMap(c -> c.grips.values().stream()).anyMatch(this::isLive)) {
      return;
    }
    for (Held claim : unsettled()) {
      claim.grips.forEach(
          (key, grip) ->
              check(
                  "S4",
                  grip.lost,
                  "the claim is empty, though the lease of claim %d has ended and nobody holds key %s",
                  claim.number,
                  shown(key)));
    }
    for (String key : reference.keys()) {
      List<Message> due =
          reference.due(key).stream().map(m -> requireNonNull(messages.get(id(m)))).toList();
      boolean mayWait =
          messages.values().stream()
              .anyMatch(m -> m.retryAt != null && m.content.key().equals(key));
      check(
          due.stream().anyMatch(m -> m.sequence == 0) ? "A1" : "C6",
          due.isEmpty() || (mayWait && due.get(0).retryAt == null),
          "the claim is empty, though nobody holds anything and %s of key %s may come",
          list(due),
          shown(key));
    }
  }

  private void settle(Held held, List<Step.Verdict> verdicts) {
    Map<Long, Decision> decisions = decisions(held, "settle claim %d: ", verdicts);
    Set<Long> lost = settle(held.actual, decisions);
    settled(held, decisions, lost);
    compare();
  }

  private void settleAndTake(Held held, Step.SettleAndTake step) {
    Map<Long, Decision> decisions =
        decisions(held, "settle claim %d and claim " + described(step.next()), step.verdicts());
    var settled =
        call(
            "settleAndClaim",
            () -> store().settleAndClaim(held.actual, decisions, request(step.next())));
    settled(held, decisions, settled.lost());
    add("; then ");
    Claim next = settled.next();
    if (next.messages().isEmpty()) {
      next = claim(request(step.next())); // it may be that it only says to poll again
    }
    follow(next, Duration.ofHours(step.next().hours()), step.next());
    compare();
  }

  /** The first verdict for the first message, and so on; the last for all that follow. */
  private Map<Long, Decision> decisions(Held held, String line, List<Step.Verdict> verdicts) {
    Map<Long, Decision> decisions = new LinkedHashMap<>();
    List<String> words = new ArrayList<>();
    Set<String> heldBack = new HashSet<>();
    int i = 0;
    for (Map.Entry<Long, Message> entry : held.messages.entrySet()) {
      Message message = entry.getValue();
      Step.Verdict verdict = verdicts.get(Math.min(i++, verdicts.size() - 1));
      boolean second = verdict.holdsBack() && !heldBack.add(message.content.key());
      if (held.comesAlong.contains(message)
          || second
          || (verdict.holdsBack() && anotherHoldsBack(message))) {
        verdict = Step.Verdict.NONE;
      }
      Decision decision = verdict.decision("error " + ++errors);
      words.add(message + " " + verdict.words);
      if (decision != null) {
        decisions.put(entry.getKey(), decision);
      }
    }
    say(line, held.number);
    add(list(words));
    return decisions;
  }

  private boolean anotherHoldsBack(Message message) {
    return messages.values().stream()
        .anyMatch(
            m ->
                m != message
                    && (m.retryAt != null || m.blocks)
                    && m.content.key().equals(message.content.key()));
  }

  private void settled(Held held, Map<Long, Decision> decisions, Set<Long> lost) {
    held.decisions = decisions;
    check(
        "S1",
        held.messages.keySet().containsAll(lost),
        "settle says that sequences are lost which the claim does not have");
    held.grips.forEach(
        (key, grip) -> {
          Map<Long, Message> ofKey = held.of(key);
          if (isLost(held, key, grip, lost)) {
            giveUp(held, key, grip);
            add("; lost key " + shown(key));
          } else {
            Map<UUID, Decision> byId = new HashMap<>();
            ofKey.forEach(
                (sequence, message) -> {
                  Decision decision = decisions.get(sequence);
                  if (decision != null) {
                    byId.put(message.content.id(), decision);
                    message.retryAt =
                        decision instanceof Decision.Retry retry
                            ? reference.now().plus(retry.delay())
                            : null;
                    message.blocks = decision instanceof Decision.Dead dead && dead.haltsKey();
                  }
                  message.mayCount = 0;
                });
            Map<Long, Decision> expected = new HashMap<>();
            grip.expected
                .messages()
                .forEach(
                    m -> {
                      if (byId.containsKey(id(m))) {
                        expected.put(m.sequence(), byId.get(id(m)));
                      }
                    });
            check(
                "S1",
                grip.expected.settle(expected).isEmpty(),
                "settle changes key %s, which another claim has taken over",
                shown(key));
            saw(isLive(grip) ? "settle" : "late settle");
          }
        });
  }

  /** Whether these sequences, of those that are said to be lost, say so of the key. */
  private boolean isLost(Held held, String key, Grip grip, Set<Long> lost) {
    Set<Long> ofKey = new HashSet<>(held.of(key).keySet());
    int all = ofKey.size();
    ofKey.retainAll(lost);
    check(
        "S1",
        ofKey.isEmpty() || ofKey.size() == all,
        "of key %s a part is said to be lost and the rest not",
        shown(key));
    check(
        "S1",
        !grip.lost || !ofKey.isEmpty(),
        "claim %d is said to hold key %s, which it had lost",
        held.number,
        shown(key));
    return !ofKey.isEmpty();
  }

  /** The store says that the claim lost the key. */
  private void giveUp(Held held, String key, Grip grip) {
    rule = "S1"; // nothing of it may change
    boolean heldByReference = grip.expected.settle(Map.of()).isEmpty();
    check(
        "C4",
        !heldByReference || grip.doubtful || grip.lost,
        "claim %d is said to have lost key %s, which nobody has taken over",
        held.number,
        shown(key));
    grip.lost = true;
    saw("lost");
  }

  private void settleAgain(Held held) {
    say("settle claim %d again, with the same decisions", held.number);
    Set<Long> ignored = settle(held.actual, requireNonNull(held.decisions));
    compare();
  }

  private void settleWhatItHasNot(Held held) {
    long other = Collections.max(held.messages.keySet()) + 1_000_000;
    say("settle claim %d with a decision on a sequence that it does not have", held.number);
    Map<Long, Decision> decisions = new HashMap<>();
    held.messages.keySet().forEach(sequence -> decisions.put(sequence, Decision.delivered()));
    decisions.put(other, Decision.delivered());
    try {
      Set<Long> ignored = held.actual.settle(decisions);
    } catch (IllegalArgumentException e) {
      compare();
      return;
    }
    throw new AssertionFailedError("settle accepts a sequence that the claim does not have");
  }

  private void renew(Held held, int hours) {
    say("renew claim %d for %d h", held.number, hours);
    Duration lease = Duration.ofHours(hours);
    Set<Long> lost = new HashSet<>(held.messages.keySet());
    lost.removeAll(call("renew", () -> held.actual.renew(lease)));
    held.grips.forEach(
        (key, grip) -> {
          if (isLost(held, key, grip, lost)) {
            giveUp(held, key, grip);
            add("; lost key " + shown(key));
          } else {
            check(
                "C4",
                !grip.expected.renew(lease).isEmpty(),
                "renew holds key %s, which another claim has taken over",
                shown(key));
            grip.end = reference.now().plus(lease);
            grip.doubtful = false;
            saw("renew");
          }
        });
  }

  /**
   * Not while a transaction is open: what it has written is not seen by others, and cannot be made
   * older.
   */
  private void letPass(int hours) {
    if (clock != null && open.isEmpty()) {
      Duration time = Duration.ofHours(hours).plusMinutes(hours);
      say("%d h pass", hours);
      clock.moveClock(time);
      timePassed = true;
      reference.letPass(time);
    }
  }

  // ---- dead letters

  private void decide(Step.DecideOnDeadLetter decide) {
    if (!(store() instanceof DeadLetterStore letters)) {
      return;
    }
    List<DeadLetter> dead = expectedDeadLetters();
    if (dead.isEmpty()) {
      List<Message> known = messages.values().stream().filter(m -> m.sequence != 0).toList();
      ifAny(known, decide.letter(), m -> decideOnNone(letters, m, decide.requeues()));
    } else {
      decide(letters, dead.get(decide.letter() % dead.size()), decide.requeues());
    }
    compare();
  }

  private void decide(DeadLetterStore letters, DeadLetter letter, boolean requeues) {
    Message message = requireNonNull(messages.get(id(letter.message())));
    say("%s dead letter %s", requeues ? "requeue" : "discard", message);
    check(
        "O3",
        decideOn(letters, message, requeues),
        "the store says that message %s is no dead letter",
        message);
    if (requeues) {
      reference.requeue(letter);
      message.passable = true;
      message.counted = 0;
      saw("requeue");
    } else {
      reference.discard(letter);
    }
    message.retryAt = null;
    message.blocks = false;
  }

  private static boolean decideOn(DeadLetterStore letters, Message message, boolean requeues) {
    return call(
        requeues ? "requeue" : "discard",
        () -> requeues ? letters.requeue(message.sequence) : letters.discard(message.sequence));
  }

  private void decideOnNone(DeadLetterStore letters, Message message, boolean requeues) {
    say("%s %s, which is no dead letter", requeues ? "requeue" : "discard", message);
    check(
        "O3",
        !decideOn(letters, message, requeues),
        "the store says that message %s was a dead letter",
        message);
  }

  private List<DeadLetter> expectedDeadLetters() {
    List<DeadLetter> dead = new ArrayList<>(reference.deadLetters());
    dead.sort(
        Comparator.comparing(letter -> requireNonNull(messages.get(id(letter.message()))).place));
    return dead;
  }

  // ---- what is compared after each step

  private void compare() {
    if (store() instanceof DeadLetterStore letters) {
      List<DeadLetter> actual = call("deadLetters", () -> letters.deadLetters(0, 1_000));
      actual.forEach(letter -> known(letter.message()));
      List<String> expected =
          expectedDeadLetters().stream()
              .map(letter -> described(letter, countedAtClaims(letter)))
              .toList();
      check(
          "S2",
          actual.stream().map(letter -> described(letter, 0)).toList().equals(expected),
          "the dead letters are %s instead of %s",
          list(actual.stream().map(letter -> described(letter, 0)).toList()),
          list(expected));
    }
    if (store() instanceof StatisticsStore statistics) {
      compare(call("statistics", () -> statistics.statistics(StatisticsStore.DEFAULT_CAP)));
    }
  }

  private int countedAtClaims(DeadLetter letter) {
    return requireNonNull(messages.get(id(letter.message()))).counted;
  }

  private String described(DeadLetter letter, int more) {
    return "%s (attempts %d, %s%s)"
        .formatted(
            messages.get(id(letter.message())),
            letter.message().attempts() + more,
            letter.error(),
            letter.failedAt() == null ? ", at no time" : "");
  }

  /**
   * Which of these a message that can go is counted as may depend on whether a claim has met it.
   */
  private void compare(Statistics actual) {
    long live = actual.pending() + actual.scheduled() + actual.blocked();
    long expected = reference.sum(s -> s.pending() + s.scheduled() + s.blocked());
    check(rule, live == expected, "statistics count %d messages instead of %d", live, expected);
    long dead = reference.sum(Statistics::dead);
    check(
        "S2",
        actual.dead() == dead,
        "statistics count %d dead letters, not %d",
        actual.dead(),
        dead);
    long halted = reference.sum(Statistics::haltedKeys);
    check(
        "O3",
        actual.haltedKeys() == halted,
        "statistics count %d halted keys instead of %d",
        actual.haltedKeys(),
        halted);
    long waiting = reference.sum(Statistics::blockedKeys);
    check(
        "O2",
        actual.blockedKeys() >= waiting,
        "statistics count %d keys that wait for a retry instead of %d",
        actual.blockedKeys(),
        waiting);
  }

  // ---- the end

  /** Everything that was appended and is not gone comes, and after it what was dead. */
  void finish() {
    played = lines.size();
    new ArrayList<>(open.keySet()).forEach(number -> play(new Step.EndTransaction(number, true)));
    if (clock != null) {
      letPass(1_000);
    } else {
      unsettled().forEach(held -> settle(held, List.of(Step.Verdict.NONE)));
    }
    drain(claims.size() + messages.size());
    if (store() instanceof DeadLetterStore letters) {
      expectedDeadLetters().forEach(letter -> decide(letters, letter, true));
      compare();
      drain(claims.size() + messages.size());
    }
  }

  private void drain(int most) {
    int before = claims.size();
    int claimed;
    do {
      claimed = claims.size();
      take(new Step.Take(1, 100, false, 3));
      if (claims.size() > claimed) {
        settle(claims.get(claimed), List.of(Step.Verdict.DELIVERED));
      }
      check("S2", claims.size() - before <= most, "delivered messages come again and again");
    } while (claims.size() > claimed);
    if (clock != null) {
      for (String key : reference.keys()) {
        List<StoredMessage> left = reference.due(key);
        check(
            "C6",
            left.isEmpty(),
            "the claim is empty, though %s of key %s may come",
            list(left.stream().map(m -> messages.get(id(m))).toList()),
            shown(key));
      }
    }
  }

  @Override
  public void close() {
    open.values().forEach(transaction -> transaction.actual.close());
  }
}
