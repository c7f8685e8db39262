package dev.outbox.store.core.internal;

import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What relays tell each other: that messages were committed, and that their commit has waited for
 * the disk. A hint, which may be lost, and which anybody may send who can connect to the database:
 * so it says where to look, and nothing of what is there.
 *
 * @param buckets of each message, by its sequence; empty when there may be any, anywhere
 */
public record Announcement(Map<Long, Integer> buckets) {
  public static final Announcement ANYTHING = new Announcement(Map.of());

  /** Whoever has more to tell is so busy that looking at all buckets costs nothing. */
  private static final int MOST = 100;

  public Announcement {
    buckets = buckets.size() > MOST ? Map.of() : Map.copyOf(buckets);
  }

  /**
   * What {@link #text} has made, or {@link #ANYTHING} when that is not what it is.
   *
   * @param text of whatever origin
   */
  public static Announcement of(String text) {
    try {
      Map<Long, Integer> buckets = new HashMap<>();
      for (String message : text.split(",")) {
        int colon = message.indexOf(':');
        buckets.put(
            Long.valueOf(message.substring(0, Math.max(0, colon))),
            Integer.valueOf(message.substring(colon + 1)));
      }
      return new Announcement(buckets);
    } catch (NumberFormatException e) {
      return ANYTHING;
    }
  }

  /** As ASCII, at most 2,500 characters; empty for {@link #ANYTHING}. */
  public String text() {
    return buckets.entrySet().stream()
        .map(message -> message.getKey() + ":" + message.getValue())
        .collect(Collectors.joining(","));
  }

  public boolean isAnything() {
    return buckets.isEmpty();
  }

  public Announcement and(Announcement other) {
    if (isAnything() || other.isAnything()) {
      return ANYTHING;
    }
    Map<Long, Integer> both = new HashMap<>(buckets);
    both.putAll(other.buckets);
    return new Announcement(both);
  }
}
