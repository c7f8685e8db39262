package dev.outbox.relay;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** How this module's tests wait for what has to happen. */
final class Waits {
  private Waits() {}

  /** For as long as a busy machine may need; Awaitility itself would give up after ten seconds. */
  static ConditionFactory await() {
    return Awaitility.await().atMost(Duration.ofMinutes(2));
  }
}
