package dev.outbox.spring;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** Waiting for what comes at once, or late on a busy machine. */
public final class Patience {
  public static final Duration LIMIT = Duration.ofMinutes(1);

  private Patience() {}

  public static ConditionFactory await() {
    return Awaitility.await().atMost(LIMIT);
  }
}
