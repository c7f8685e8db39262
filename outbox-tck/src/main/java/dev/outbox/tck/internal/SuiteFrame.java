package dev.outbox.tck.internal;

import org.junit.jupiter.api.extension.TestInstances;

/** The frame of the suites of stores and of inboxes. */
public final class SuiteFrame extends Frame {
  @Override
  @SuppressWarnings({"unchecked", "rawtypes"})
  protected Tested tested(TestInstances tests, Patience patience) {
    Patient<?, ?> patient = tests.findInstance(Suite.class).orElseThrow().patient(patience);
    tests.findInstance(SuiteTests.class).ifPresent(test -> test.tck = patient);
    return patient;
  }
}
