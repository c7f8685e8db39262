package dev.outbox.dev.bench;

import dev.outbox.dev.bench.Stamps.Stamp;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;

/**
 * What pods have committed and published, as they say it. Used by one thread.
 *
 * @param <P> a pod
 */
final class Traffic<P> {
  private final Map<UUID, Commit> commits = new HashMap<>();
  private final Map<UUID, Publication<P>> publications = new HashMap<>();
  private int repeats;

  private record Commit(String key, long at) {}

  private record Publication<P>(P by, Stamp stamp) {}

  /** Both ends of a message. */
  private record Message<P>(String key, long committed, long published, P by) {}

  /** Returns whether the line told of it. */
  boolean heard(P pod, String line) {
    String[] part = line.split(" ");
    switch (part[0]) {
      case PodMain.COMMITTED ->
          commits.put(UUID.fromString(part[1]), new Commit(part[2], Long.parseLong(part[3])));
      case PodMain.PUBLISHED -> {
        for (int i = 1; i < part.length; i += 3) {
          Stamp stamp = new Stamp(Long.parseLong(part[i + 1]), Long.parseLong(part[i + 2]));
          UUID id = UUID.fromString(part[i]);
          if (publications.putIfAbsent(id, new Publication<>(pod, stamp)) != null) {
            repeats++;
          }
        }
      }
      default -> {
        return false;
      }
    }
    return true;
  }

  void clear() {
    commits.clear();
    publications.clear();
    repeats = 0;
  }

  /** When each message was committed. */
  Map<UUID, Long> commits() {
    Map<UUID, Long> all = new HashMap<>();
    commits.forEach((id, commit) -> all.put(id, commit.at));
    return all;
  }

  /** When each message was first published. */
  Map<UUID, Stamp> stamps() {
    Map<UUID, Stamp> all = new HashMap<>();
    publications.forEach((id, publication) -> all.put(id, publication.stamp));
    return all;
  }

  /** How many publications were of messages that had been published before. */
  int repeats() {
    return repeats;
  }

  /** All that is committed and published, in the order of the commits. */
  private List<Message<P>> messages() {
    List<Message<P>> messages = new ArrayList<>();
    commits.forEach(
        (id, commit) -> {
          Publication<P> publication = publications.get(id);
          if (publication != null) {
            messages.add(
                new Message<>(commit.key, commit.at, publication.stamp.called(), publication.by));
          }
        });
    messages.sort(Comparator.comparing(Message::committed));
    return messages;
  }

  /** The keys so far, by the pod that has published their last message. */
  Map<P, Set<String>> keys() {
    Map<String, P> last = new HashMap<>();
    messages().forEach(message -> last.put(message.key, message.by));
    Map<P, Set<String>> keys = new HashMap<>();
    last.forEach((key, pod) -> keys.computeIfAbsent(pod, p -> new HashSet<>()).add(key));
    return keys;
  }

  /**
   * Of each key the longest time in which there was something to publish and nothing was published:
   * in milliseconds.
   *
   * @param from of {@link Stamps#now}; what ended before does not count
   */
  List<Double> standstills(Predicate<String> keys, long from) {
    Map<String, Long> last = new HashMap<>();
    Map<String, Double> longest = new HashMap<>();
    for (Message<P> message : messages()) {
      long begin = Math.max(message.committed, last.getOrDefault(message.key, 0L));
      last.merge(message.key, message.published, Math::max);
      if (message.published >= from && keys.test(message.key)) {
        longest.merge(message.key, Math.max(0, message.published - begin) / 1e3, Math::max);
      }
    }
    return List.copyOf(longest.values());
  }
}
