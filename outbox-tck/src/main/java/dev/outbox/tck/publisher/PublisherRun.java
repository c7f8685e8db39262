package dev.outbox.tck.publisher;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

/** What one test of a run of the publishers' suite leaves to the others. */
final class PublisherRun {

  /** Circumstances, for sentences: nothing is wrong. */
  static final String WELL = "while all was well";

  static final String AGAIN = "when it was called again for what was not delivered";

  static final String BESIDE_REJECTED = "beside a message that the broker never takes";
  static final String BESIDE_MISSING = "beside a message to a missing destination";
  static final String BESIDE_HANGING = "beside a message to a destination that hangs";
  static final String STOPPED = "while the broker was stopped";
  static final String HUNG = "while the broker hung";

  /** Behind one of the two. */
  static final String MUCH = ", and 20 MB were to be sent";

  static final String CLOSED = "when the publisher was closed meanwhile";

  private final Map<String, Outage> outages = new HashMap<>();
  private final Set<String> failed = new HashSet<>();
  private final Set<String> hung = ConcurrentHashMap.newKeySet();
  private @Nullable String closing;

  /** The outage of these circumstances, which happens when it is first asked for. */
  Outage outage(String when, Supplier<Outage> happens) {
    Outage known = outages.get(when);
    if (known != null) {
      return known;
    }
    if (!failed.add(when)) {
      throw new TestAbortedException(
          "skipped: a test before this one failed to find out what happens " + when);
    }
    Outage outage = happens.get();
    outages.put(when, outage);
    return outage;
  }

  /** In these circumstances publish does not return. */
  void hangs(String when) {
    hung.add(when);
  }

  /** Whether publish is known not to return in these circumstances. */
  boolean hung(String when) {
    return hung.contains(when);
  }

  /** What came of closing a publisher: what is wrong with it, or null. */
  void closed(@Nullable String wrong) {
    closing = closing == null ? wrong : closing;
  }

  /** What was wrong with closing the first publisher that could not be closed well, or null. */
  @Nullable String closing() {
    return closing;
  }
}
