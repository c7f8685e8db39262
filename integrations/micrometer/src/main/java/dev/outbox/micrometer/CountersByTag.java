package dev.outbox.micrometer;

import io.micrometer.core.instrument.Counter;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** One counter by the values of a tag, of which there may be many. */
final class CountersByTag {
  /** How many values have a counter of their own. */
  static final int MOST = 100;

  /** The value of all others. */
  static final String OTHERS = "(other)";

  private final Map<String, Counter> known = new ConcurrentHashMap<>();
  private final Function<String, Counter> making;
  private final Counter others;

  /**
   * @param making makes the counter of a value
   */
  CountersByTag(Function<String, Counter> making) {
    this.making = making;
    others = making.apply(OTHERS);
  }

  Counter of(String value) {
    Counter counter = known.get(value);
    if (counter != null) {
      return counter;
    }
    return known.size() < MOST ? first(value) : others;
  }

  /** One at a time, so that the limit holds. */
  private synchronized Counter first(String value) {
    return known.size() < MOST ? known.computeIfAbsent(value, making) : others;
  }
}
