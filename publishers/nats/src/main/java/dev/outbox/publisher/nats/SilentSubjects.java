package dev.outbox.publisher.nats;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Places from which no acknowledgement came while the server answered. They must not hold up other
 * messages of the same calls. So now and then one message is sent to such a place, and waited for a
 * short time, until an acknowledgement comes.
 */
final class SilentSubjects {
  private static final int MOST = 1_000;

  private final long pause;

  /** By place: when it may be tried again. */
  private final Map<String, Long> places =
      Collections.synchronizedMap(
          new LinkedHashMap<>() {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
              return size() > MOST;
            }
          });

  /**
   * @param pause between two tries, in nanoseconds
   */
  SilentSubjects(long pause) {
    this.pause = pause;
  }

  void add(String place) {
    places.put(place, System.nanoTime() + pause);
  }

  void remove(String place) {
    if (!places.isEmpty()) {
      places.remove(place);
    }
  }

  boolean contains(String place) {
    return !places.isEmpty() && places.containsKey(place);
  }

  /** Whether a message may be sent there now; to a silent place none may for a while then. */
  boolean enter(String place) {
    if (places.isEmpty()) {
      return true;
    }
    long now = System.nanoTime();
    boolean[] may = {true};
    places.computeIfPresent(
        place,
        (p, next) -> {
          may[0] = next - now <= 0;
          return may[0] ? now + pause : next;
        });
    return may[0];
  }
}
