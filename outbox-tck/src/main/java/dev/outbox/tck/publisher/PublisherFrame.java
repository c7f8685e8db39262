package dev.outbox.tck.publisher;

import dev.outbox.tck.internal.Frame;
import dev.outbox.tck.internal.Patience;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.junit.jupiter.api.extension.TestInstances;
import org.opentest4j.TestAbortedException;

/** The frame of the suite of publishers, and what one test of a run leaves to the others. */
final class PublisherFrame extends Frame {

  /** Circumstances, for sentences: nothing is wrong. */
  static final String WELL = "while all was well";

  static final String BESIDE_REJECTED = "beside a message that the broker never takes";
  static final String BESIDE_HANGING = "beside a message to a destination that hangs";
  static final String STOPPED = "while the broker was stopped";
  static final String CLOSED = "when the publisher was closed meanwhile";

  private final Map<String, Outage> outages = new HashMap<>();
  private final Set<String> unknown = new HashSet<>();

  /** In these circumstances publish is known not to return. */
  final Set<String> hung = ConcurrentHashMap.newKeySet();

  /** The outage of these circumstances, which happens when it is first asked for. */
  Outage outage(String when, Supplier<Outage> happens) {
    Outage known = outages.get(when);
    if (known != null) {
      return known;
    }
    if (!unknown.add(when)) {
      throw new TestAbortedException(
          "skipped: a test before this one failed to find out what happens " + when);
    }
    Outage outage = happens.get();
    outages.put(when, outage);
    return outage;
  }

  @Override
  protected Tested tested(TestInstances tests, Patience patience) {
    PublisherTck fixture = tests.findInstance(PublisherTck.class).orElseThrow();
    PatientPublisher tck = new PatientPublisher(fixture, patience, this);
    tests.findInstance(PublisherTests.class).ifPresent(test -> test.tck = tck);
    return tck;
  }
}
