package dev.outbox.tck.publisher;

import dev.outbox.tck.internal.Frame;
import dev.outbox.tck.internal.Patience;
import org.junit.jupiter.api.extension.TestInstances;

/** The frame of the suite of publishers, whose tests leave something to each other. */
final class PublisherFrame extends Frame {
  private final PublisherRun run = new PublisherRun();

  @Override
  protected Tested tested(TestInstances tests, Patience patience) {
    PublisherTck fixture = tests.findInstance(PublisherTck.class).orElseThrow();
    PatientPublisher tck = new PatientPublisher(fixture, patience, run);
    tests.findInstance(PublisherTests.class).ifPresent(test -> test.tck = tck);
    return tck;
  }
}
