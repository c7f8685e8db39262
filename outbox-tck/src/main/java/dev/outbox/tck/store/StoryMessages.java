package dev.outbox.tck.store;

import static dev.outbox.tck.internal.SuiteTests.check;
import static java.util.Objects.requireNonNull;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The messages of a story, by their ids, and what should have become of them: the reference, and a
 * line for each thing that happened. Which keys a claim brings is the store's choice; of one key it
 * has little, so this follows it key by key. The clock is its own.
 */
final class StoryMessages {
  private final Map<UUID, StoryMessage> all = new LinkedHashMap<>();
  private final Duration dedupWindow;
  private final Map<String, Integer> seen;

  /** What happened, a line each. */
  final List<String> lines = new ArrayList<>();

  /** Which rule is broken when, after this step, there are not as many messages as should be. */
  String rule = "S2";

  Instant now = Instant.parse("2030-01-01T00:00:00Z");

  /** All messages that have a dedup key have the same one. */
  private Instant dedupKeyUntil = Instant.MIN;

  /**
   * @param seen counts what happened that was worth a story
   */
  StoryMessages(Duration dedupWindow, Map<String, Integer> seen) {
    this.dedupWindow = dedupWindow;
    this.seen = seen;
  }

  // ---- what happened

  void say(String line, Object... values) {
    lines.add(line.formatted(values));
  }

  /** To the last line. */
  void add(String more) {
    lines.add(lines.remove(lines.size() - 1) + more);
  }

  void saw(String what) {
    seen.merge(what, 1, Integer::sum);
  }

  static String list(Collection<?> things) {
    return things.isEmpty()
        ? "nothing"
        : things.stream().map(String::valueOf).collect(Collectors.joining(", "));
  }

  // ---- what should have become of them

  /** Of the next message. */
  int number() {
    return all.size() + 1;
  }

  int size() {
    return all.size();
  }

  /** All that have the key of this one, but this one. */
  Stream<StoryMessage> besides(StoryMessage message) {
    return all.values().stream().filter(m -> m.isOf(message.content.key()) && m != message);
  }

  Set<String> keys(Stream<StoryMessage> some) {
    return some.map(m -> m.content.key()).collect(Collectors.toSet());
  }

  /** All that are committed, and neither delivered nor discarded. */
  Stream<StoryMessage> there() {
    return all.values().stream().filter(m -> m.committed && !m.gone);
  }

  /** Those of them that somebody has to decide about, in the order of their sequences. */
  List<StoryMessage> dead() {
    return inOrder(there().filter(m -> m.dead));
  }

  static List<StoryMessage> inOrder(Stream<StoryMessage> some) {
    return some.sorted(Comparator.comparing(m -> m.place)).toList();
  }

  /** What of the key may be claimed, in this order, when nobody holds it. */
  List<StoryMessage> due(String key) {
    List<StoryMessage> due = new ArrayList<>();
    if (all.values().stream().anyMatch(m -> m.isOf(key) && m.blocks)) {
      return due; // (O3)
    }
    for (StoryMessage message : inOrder(there().filter(m -> m.isOf(key) && !m.dead))) {
      if (isDue(message) && (due.isEmpty() || !message.failed)) {
        due.add(message); // one that failed comes alone
      }
      if (message.failed) {
        break; // later ones wait for it (O2), and for a delayed one they do not (O4)
      }
    }
    return due;
  }

  boolean isDue(StoryMessage message) {
    return !message.dueAt.isAfter(now);
  }

  /** Whether these make the next message of their transaction a duplicate, or what was before. */
  boolean isDuplicate(StoryMessage next, Collection<StoryMessage> before) {
    return next.content.dedupKey() != null
        && (!now.isAfter(dedupKeyUntil)
            || before.stream().anyMatch(m -> m.content.dedupKey() != null));
  }

  StoryMessage add(OutboxMessage content) {
    StoryMessage message = new StoryMessage(number(), content);
    message.passable = content.deliverAfter() != null;
    all.put(content.id(), message);
    return message;
  }

  void commit(StoryMessage message) {
    message.committed = true;
    Duration delay = message.content.deliverAfter();
    message.dueAt = delay == null ? Instant.MIN : now.plus(delay);
    if (message.content.dedupKey() != null) {
      dedupKeyUntil = now.plus(dedupWindow);
    }
  }

  static String described(StoryMessage message) {
    OutboxMessage m = message.content;
    return "%s (%s%s%s)"
        .formatted(
            message.number,
            m.key().equals(m.id().toString()) ? "unordered" : "key " + StoreTests.shown(m.key()),
            m.deliverAfter() != null ? ", due in 1 h" : "",
            m.dedupKey() != null ? ", dedup key" : "");
  }

  StoryMessage known(StoredMessage brought) {
    check(brought.problem() == null, "A3: the store cannot decode %s", brought);
    StoryMessage message = all.get(brought.message().id());
    check(message != null, "A1: nobody appended %s", brought);
    OutboxMessage content = requireNonNull(message).content;
    check(message.committed, "A1: message %s comes though it is not committed", message);
    check(
        brought.key().equals(content.key())
            && Arrays.equals(brought.message().payload(), content.payload())
            && Objects.equals(brought.message().dedupKey(), content.dedupKey()),
        "A3: message %s does not come as it was appended: %s",
        message,
        brought);
    check(
        message.sequence == 0 || message.sequence == brought.sequence(),
        "S2: message %s has another sequence: it was %s and is %s",
        message,
        message.sequence,
        brought.sequence());
    message.sequence = brought.sequence();
    return message;
  }

  boolean anotherHoldsBack(StoryMessage message) {
    return besides(message).anyMatch(m -> m.failed || m.blocks);
  }

  void decide(StoryMessage message, Decision decision) {
    message.failed = decision instanceof Decision.Retry;
    if (decision instanceof Decision.Retry retry) {
      message.dueAt = now.plus(retry.delay());
      message.attempts += retry.counts() ? 1 : 0;
    } else if (decision instanceof Decision.Dead dead) {
      message.dead = true;
      message.blocks = dead.haltsKey();
      message.error = dead.error();
      message.attempts++;
    } else {
      message.gone = true;
    }
  }

  void decide(StoryMessage letter, boolean requeues) {
    letter.gone = !requeues;
    letter.dead = false;
    letter.blocks = false;
    letter.passable = true;
    letter.dueAt = Instant.MIN;
    letter.attempts = 0;
    letter.counted = 0;
  }

  /** A message of a story, and what has become of it. */
  static final class StoryMessage {
    final int number;
    final OutboxMessage content;
    boolean committed;

    /** It was delivered, or discarded. */
    boolean gone;

    /**
     * In the order of all: that of appends, or where sequences come with the commit, of commits.
     */
    int place;

    /** 0 until it is known. */
    long sequence;

    /** It was delayed, requeued or committed late: it may come before its place, and after it. */
    boolean passable;

    /** By the story's clock. */
    Instant dueAt = Instant.MIN;

    /** It waits for its retry, or that is due. */
    boolean failed;

    boolean dead;

    /** A dead letter that halts its key. */
    boolean blocks;

    String error = "";

    /** Those that decisions have counted. */
    int attempts;

    /** Attempts that the store counted at claims which were lost (S6), and how many it may. */
    int counted;

    int mayCount;

    StoryMessage(int number, OutboxMessage content) {
      this.number = number;
      this.content = content;
      place = number;
    }

    boolean isOf(String key) {
      return content.key().equals(key);
    }

    @Override
    public String toString() {
      return String.valueOf(number);
    }
  }
}
