package dev.outbox.tck.internal;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.TestInstances;

/** The frame of the suites of stores and of inboxes. */
public final class SuiteFrame extends Frame {
  private @Nullable Patient<?, ?> tck;

  @Override
  @SuppressWarnings({"unchecked", "rawtypes"})
  protected Numbers prepare(TestInstances tests, Patience patience, boolean all) {
    Patient<?, ?> patient = tests.findInstance(Suite.class).orElseThrow().patient(patience);
    tck = patient;
    tests.findInstance(SuiteTests.class).ifPresent(test -> test.tck = patient);
    patient.prepare();
    return patient.numbers();
  }

  @Override
  protected void giveBack() {
    if (tck != null) {
      tck.giveBack();
    }
  }
}
