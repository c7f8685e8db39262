package dev.outbox.tck.publisher;

import dev.outbox.tck.internal.Frame;
import dev.outbox.tck.internal.Numbers;
import dev.outbox.tck.internal.Patience;
import org.junit.jupiter.api.extension.TestInstances;

/** The frame of a suite whose tests leave something to each other. */
final class PublisherFrame extends Frame {
  private final PublisherRun run = new PublisherRun();

  @Override
  protected void begin(TestInstances tests, Patience patience, boolean all) {
    run.all = all;
    PublisherTck tck = tests.findInstance(PublisherTck.class).orElseThrow();
    tck.begin(patience, run);
    tests.findInstance(PublisherTests.class).ifPresent(test -> test.tck = tck);
  }

  @Override
  protected Numbers numbers(TestInstances tests) {
    return tests.findInstance(PublisherTck.class).orElseThrow().numbers();
  }
}
