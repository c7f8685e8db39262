package dev.outbox.tck.publisher;

import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.internal.Patience;
import dev.outbox.tck.internal.Patience.OtherRuleBroken;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What came of one call of publish, and what is wrong with it in words. Its messages are numbered
 * from 1.
 *
 * @param when in which circumstances, as "while the broker was stopped"
 * @param results as they were given, which may be anything
 * @param inVain how long it was waited for when it did not return
 */
record Published(
    String when,
    List<StoredMessage> messages,
    @Nullable List<Result> results,
    @Nullable Throwable thrown,
    @Nullable Duration inVain) {

  /** What the publisher does with its list afterwards is another matter. */
  Published {
    results = results == null ? null : new ArrayList<>(results);
  }

  /** It did not return within the limit. */
  static Published hung(String when, List<StoredMessage> messages, Duration limit) {
    return new Published(when, messages, null, null, limit);
  }

  static String id(StoredMessage message) {
    return message.message().id().toString();
  }

  /** As the relay takes it: what throws has failed. */
  Result result(int i) {
    if (thrown != null) {
      return Result.failed("publish threw " + thrown);
    }
    Result result = results == null || i >= results.size() ? null : results.get(i);
    return result == null ? Result.failed("publish gave no result") : result;
  }

  boolean delivered(int i) {
    return result(i) instanceof Result.Delivered;
  }

  /** Those that have to be published again: all when the results tell nothing. */
  List<StoredMessage> undelivered() {
    return inVain != null || miscounted() != null
        ? messages
        : IntStream.range(0, messages.size())
            .filter(i -> !delivered(i))
            .mapToObj(messages::get)
            .toList();
  }

  /**
   * The numbers, from 0, of messages that are under way and have their answer when they are handed
   * over again (P3), and of those behind them.
   *
   * @param keys the record keys of those that count
   */
  List<Integer> unanswered(Collection<String> keys) {
    List<Integer> open = new ArrayList<>();
    Set<String> waiting = new HashSet<>();
    for (int i = 0; i < messages.size(); i++) {
      String key = messages.get(i).message().recordKey();
      if (keys.contains(key)
          && result(i) instanceof Result.Unavailable u
          && (u.again() != null || waiting.contains(key))) {
        waiting.add(key);
        open.add(i);
      }
    }
    return open;
  }

  // ---- what is wrong with it; null is nothing

  /** That it did not return (P5). */
  @Nullable String hung() {
    return inVain == null
        ? null
        : "publish did not return in %s %s: it needs a time limit for the whole call, below the lease"
            .formatted(Patience.seconds(inVain), when);
  }

  /** That there is not one result a message (P1). */
  @Nullable String miscounted() {
    if (inVain != null || thrown != null) {
      return null;
    }
    if (results == null) {
      return "publish returned null %s, not one result a message".formatted(when);
    }
    if (results.size() != messages.size()) {
      return "publish returned %s results for %s messages %s"
          .formatted(results.size(), messages.size(), when);
    }
    int none = results.indexOf(null);
    return none < 0 ? null : "the result of message %s is null %s".formatted(none + 1, when);
  }

  /**
   * That a message is called delivered which is not there (P1).
   *
   * @param arrived the ids of what the broker has
   */
  @Nullable String notThere(Collection<String> arrived) {
    String wrong = miscounted();
    for (int i = 0; wrong == null && inVain == null && i < messages.size(); i++) {
      if (delivered(i) && !arrived.contains(id(messages.get(i)))) {
        wrong =
            "message %s was reported delivered %s, and the broker does not have it: wait for the acknowledgement of each message"
                .formatted(i + 1, when);
      }
    }
    return wrong;
  }

  /**
   * That a message with which nothing is wrong is blamed for another (P1).
   *
   * @param recordKey of messages with which nothing is wrong
   * @param arrived the ids of what the broker has
   */
  @Nullable String blamed(String recordKey, Collection<String> arrived) {
    for (int i = 0; thrown == null && inVain == null && i < messages.size(); i++) {
      StoredMessage message = messages.get(i);
      if (message.message().recordKey().equals(recordKey)
          && !delivered(i)
          && arrived.contains(id(message))) {
        return "message %s of key \"%s\" arrived %s, and was reported %s: each message has a result of its own"
            .formatted(i + 1, recordKey, when, words(result(i)));
      }
    }
    return null;
  }

  /**
   * That a message came through after an earlier one of its key did not (P2).
   *
   * @param arrived the ids of what the broker has
   */
  @Nullable String passedBy(Collection<String> arrived) {
    Map<String, Integer> stopped = new HashMap<>();
    for (int i = 0; i < messages.size(); i++) {
      StoredMessage message = messages.get(i);
      boolean came = arrived.contains(id(message));
      Integer first = stopped.get(message.key());
      if (first != null && came) {
        return "message %s of key \"%s\" was delivered after message %s of that key was %s: send what is behind a message only when that one is acknowledged"
            .formatted(i + 1, message.key(), first + 1, words(result(first)));
      }
      if (!came) {
        stopped.putIfAbsent(message.key(), i);
      }
    }
    return null;
  }

  /** For tests of other rules: it returned (P5). */
  Published inTime() {
    because("P5", hung());
    return this;
  }

  /** The same, and its results tell something (P1). */
  Published counted() {
    because("P1", inTime().miscounted());
    return this;
  }

  /** The same, and it calls nothing delivered that is not there (P1). */
  Published honest(Collection<String> arrived) {
    because("P1", inTime().notThere(arrived));
    return this;
  }

  /** Skips a test that builds on another rule, which is broken; null is not. */
  static void because(String rule, @Nullable String wrong) {
    if (wrong != null) {
      throw new OtherRuleBroken(rule, new AssertionError(wrong));
    }
  }

  /** As in "was …". */
  static String words(Result result) {
    if (result instanceof Result.Rejected r) {
      return "rejected (%s)".formatted(r.error());
    } else if (result instanceof Result.Failed f) {
      return "failed (%s)".formatted(f.error());
    } else if (result instanceof Result.Unavailable u) {
      return u.destination() == null
          ? "unavailable (%s)".formatted(u.error())
          : "unavailable at %s (%s)".formatted(u.destination(), u.error());
    }
    return "delivered";
  }
}
