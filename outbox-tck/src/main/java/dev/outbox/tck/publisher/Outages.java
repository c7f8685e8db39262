package dev.outbox.tck.publisher;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.opentest4j.TestAbortedException;

/** The outages of a run: each takes seconds, so it happens once, and several tests ask about it. */
final class Outages {
  private final Map<String, Outage> outages = new HashMap<>();
  private final Set<String> failed = new HashSet<>();

  /** Whether all tests are to run, however long they take. */
  boolean all;

  /**
   * The outage of these circumstances, which happens when it is first asked for. Once publish did
   * not return from one, there is no other, unless all tests are to run: it takes long, and shows
   * the same.
   */
  Outage once(String when, Function<String, Outage> happens) {
    Outage known = outages.get(when);
    if (known != null) {
      return known;
    }
    if (!all) {
      for (Outage other : outages.values()) {
        String hungThen = other.during().hung();
        if (hungThen != null) {
          throw new TestAbortedException(
              "skipped: P5 is broken, so what happens %s is not tested: %s"
                  .formatted(when, hungThen));
        }
      }
    }
    if (!failed.add(when)) {
      throw new TestAbortedException(
          "skipped: a test before this one failed to find out what happens " + when);
    }
    Outage outage = happens.apply(when);
    outages.put(when, outage);
    return outage;
  }
}
