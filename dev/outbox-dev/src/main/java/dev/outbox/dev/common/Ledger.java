package dev.outbox.dev.common;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;

/**
 * When messages were committed, and when they were published first. Times are those of {@link
 * System#nanoTime}, which is one clock for all processes of a machine. A message may be published
 * before its commit is told. Safe for several threads.
 *
 * @param <P> who publishes
 */
public final class Ledger<P> {
  private final Map<UUID, Commit> commits = new ConcurrentHashMap<>();
  private final Map<UUID, Publication<P>> publications = new ConcurrentHashMap<>();
  private final AtomicInteger repeats = new AtomicInteger();

  /**
   * A message that is committed.
   *
   * @param at when the commit had returned
   */
  public record Commit(UUID id, String key, long at) {}

  /**
   * That a message was published.
   *
   * @param called when the publisher was
   * @param acknowledged when it came back, with all of its call
   */
  public record Publication<P>(P by, long called, long acknowledged) {}

  private record Message<P>(Commit commit, Publication<P> publication) {}

  public void committed(UUID id, String key, long at) {
    commits.put(id, new Commit(id, key, at));
  }

  public void published(P by, Collection<UUID> ids, long called, long acknowledged) {
    Publication<P> publication = new Publication<>(by, called, acknowledged);
    for (UUID id : ids) {
      if (publications.putIfAbsent(id, publication) != null) {
        repeats.incrementAndGet();
      }
    }
  }

  public void clear() {
    commits.clear();
    publications.clear();
    repeats.set(0);
  }

  public int committed() {
    return commits.size();
  }

  /** When the first of them was; 0: there is none. */
  public long begin() {
    return commits.values().stream().mapToLong(Commit::at).min().orElse(0);
  }

  /** How many different messages were published. */
  public int published() {
    return publications.size();
  }

  /** How many publications were of messages that had been published before. */
  public int repeats() {
    return repeats.get();
  }

  /** How many messages are committed and not published. */
  public long outstanding() {
    return commits.keySet().stream().filter(id -> !publications.containsKey(id)).count();
  }

  /** All that is committed and published, in the order of the commits. */
  private List<Message<P>> messages() {
    List<Message<P>> messages = new ArrayList<>();
    commits.forEach(
        (id, commit) -> {
          Publication<P> publication = publications.get(id);
          if (publication != null) {
            messages.add(new Message<>(commit, publication));
          }
        });
    messages.sort(Comparator.comparingLong(message -> message.commit.at));
    return messages;
  }

  /** How long messages took that are published, in milliseconds; 0 where the commit came later. */
  public List<Double> millis(Predicate<Commit> which, ToLongFunction<Publication<P>> end) {
    return messages().stream()
        .filter(message -> which.test(message.commit))
        .map(m -> Math.max(0, end.applyAsLong(m.publication) - m.commit.at) / 1e6)
        .toList();
  }

  /** The keys so far, by who has published their last message. */
  public Map<P, Set<String>> keys() {
    Map<String, P> last = new HashMap<>();
    messages().forEach(message -> last.put(message.commit.key, message.publication.by));
    Map<P, Set<String>> keys = new HashMap<>();
    last.forEach((key, by) -> keys.computeIfAbsent(by, p -> new HashSet<>()).add(key));
    return keys;
  }

  /**
   * Of each key the longest time in which there was something to publish and nothing was published:
   * in milliseconds.
   *
   * @param from what ended before does not count
   */
  public List<Double> standstills(Predicate<String> keys, long from) {
    Map<String, Long> last = new HashMap<>();
    Map<String, Double> longest = new HashMap<>();
    for (Message<P> message : messages()) {
      String key = message.commit.key;
      long published = message.publication.called;
      long begin = Math.max(message.commit.at, last.getOrDefault(key, Long.MIN_VALUE));
      last.merge(key, published, Math::max);
      if (published >= from && keys.test(key)) {
        longest.merge(key, Math.max(0, published - begin) / 1e6, Math::max);
      }
    }
    return List.copyOf(longest.values());
  }
}
