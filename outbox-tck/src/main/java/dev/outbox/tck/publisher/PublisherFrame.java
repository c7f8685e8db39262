package dev.outbox.tck.publisher;

import dev.outbox.tck.internal.Frame;
import dev.outbox.tck.internal.Numbers;
import dev.outbox.tck.internal.Patience;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.TestInstances;

/** The frame of the suite of publishers, whose tests leave something to each other. */
final class PublisherFrame extends Frame {
  private final PublisherRun run = new PublisherRun();
  private @Nullable PatientPublisher tck;

  @Override
  protected Numbers prepare(TestInstances tests, Patience patience, boolean all) {
    run.all = all;
    PublisherTck fixture = tests.findInstance(PublisherTck.class).orElseThrow();
    PatientPublisher current = new PatientPublisher(fixture, patience, run);
    tck = current;
    tests.findInstance(PublisherTests.class).ifPresent(test -> test.tck = current);
    current.prepare();
    return current.numbers();
  }

  @Override
  protected void giveBack() {
    if (tck != null) {
      tck.closePublishers();
    }
  }
}
