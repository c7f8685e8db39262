package dev.outbox.publisher.nats;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Places from which no acknowledgement came while the server answered: they are waited for a short
 * time only, until one comes, so that they do not hold up calls that others share with them.
 */
final class Quiet {
  private static final int MOST = 1_000;

  private final Map<String, Boolean> places =
      Collections.synchronizedMap(
          new LinkedHashMap<>() {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
              return size() > MOST;
            }
          });

  void add(String place) {
    places.put(place, true);
  }

  void remove(String place) {
    if (!places.isEmpty()) {
      places.remove(place);
    }
  }

  boolean contains(String place) {
    return !places.isEmpty() && places.containsKey(place);
  }
}
