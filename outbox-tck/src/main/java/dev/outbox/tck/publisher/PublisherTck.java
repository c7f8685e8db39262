package dev.outbox.tck.publisher;

import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.RuleNames;
import dev.outbox.tck.internal.SuiteOrder;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestClassOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * What every publisher must pass. The author of a publisher writes one test class with three
 * methods:
 *
 * <pre>{@code
 * class MyPublisherTest extends PublisherTck {
 *   protected MessagePublisher createPublisher() { … }
 *   protected List<Received> received() { … }
 *   protected void reset() { … }
 * }
 * }</pre>
 *
 * <p>That runs what needs nothing but a broker that works. The rest is unlocked when the class also
 * implements the interfaces of {@link PublisherFixture}, as {@link BrokerStops}; what is not
 * unlocked is skipped and says what would unlock it. Rule numbers are on each test, or its class,
 * as {@link Rule}, in its name and at the begin of its failures.
 *
 * <p>No call of the publisher or of the test class can hang the suite: each is given up after a
 * time, publish and close 5 s after {@link #timeout}. The tests of the fixture run first, and
 * nothing else when one of them fails. An outage happens once, and several tests ask about it. A
 * test that needs what another rule breaks is skipped and says so. When the tests that failed took
 * a minute altogether the rest is skipped, unless {@code -Doutbox.tck.all=true}.
 */
@DisplayNameGeneration(RuleNames.class)
@ExtendWith(PublisherFrame.class)
@TestClassOrder(SuiteOrder.class)
public abstract class PublisherTck extends PublisherFixture {
  @Nested
  class Fixture extends PublisherTests.FixtureTests {}

  @Nested
  class Results extends PublisherTests.ResultTests {}

  @Nested
  class Order extends PublisherTests.OrderTests {}

  @Nested
  class Trouble extends PublisherTroubleTests {}

  @Nested
  class Arrival extends PublisherArrivalTests {}

  @Nested
  class End extends PublisherTroubleTests.EndTests {}
}
