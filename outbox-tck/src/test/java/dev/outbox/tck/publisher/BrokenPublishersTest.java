package dev.outbox.tck.publisher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.tck.Failure;
import dev.outbox.tck.Rule;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineExecutionResults;
import org.junit.platform.testkit.engine.EngineTestKit;

/** The suite is worth what it catches. */
class BrokenPublishersTest {

  /** The publisher that {@link Suite} runs on in this thread. */
  private static final ThreadLocal<Class<? extends PublisherInMemory>> PUBLISHER =
      new InheritableThreadLocal<>();

  /** Most of the time the suite waits. */
  private static final ExecutorService RUNS = Executors.newFixedThreadPool(4);

  @AfterAll
  static void end() {
    RUNS.shutdownNow();
  }

  /** The suite with the least: a publisher's author need not offer more. */
  static class Core extends PublisherTck {
    PublisherBroker broker = new PublisherBroker();

    @Override
    protected MessagePublisher createPublisher() {
      try {
        return PUBLISHER.get().getDeclaredConstructor(PublisherBroker.class).newInstance(broker);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    protected List<Received> received() {
      return broker.taken();
    }

    @Override
    protected void reset() {
      broker = new PublisherBroker();
    }

    @Override
    protected Duration timeout() {
      return PublisherInMemory.TIMEOUT;
    }

    @Override
    protected Duration patience() {
      return Duration.ofSeconds(5);
    }
  }

  /** The suite with everything. */
  static class Suite extends Core
      implements PublisherTck.BrokerCrashes,
          PublisherTck.BrokerHangs,
          PublisherTck.BrokerRejects,
          PublisherTck.DestinationMissing,
          PublisherTck.DestinationNotDurable,
          PublisherTck.DestinationHangs {

    @Override
    public void stopBroker() {
      broker.stop();
    }

    @Override
    public void killBroker() {
      try {
        broker.crash();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public void startBroker() {
      broker.start();
    }

    @Override
    public void pauseBroker() {
      broker.hang();
    }

    @Override
    public void resumeBroker() {
      broker.start();
    }

    @Override
    public OutboxMessage.Builder rejected(OutboxMessage.Builder message) {
      return message.header(PublisherBroker.POISON, "");
    }

    @Override
    public OutboxMessage.Builder toMissing(OutboxMessage.Builder message) {
      return message.header(PublisherBroker.MISSING, "");
    }

    @Override
    public OutboxMessage.Builder toNotDurable(OutboxMessage.Builder message) {
      return message.header(PublisherBroker.NOT_DURABLE, "");
    }

    @Override
    public OutboxMessage.Builder toHanging(OutboxMessage.Builder message) {
      return message.header(PublisherBroker.HANGING, "");
    }
  }

  @Test
  @DisplayName("a right publisher passes, so that what fails below is broken")
  void passes() {
    EngineExecutionResults results = run(Suite.class, PublisherInMemory.class);
    assertThat(Failure.of(results)).as("tests that a right publisher fails").isEmpty();
    assertThat(results.testEvents().aborted().count()).as("skipped tests").isZero();
    assertThat(results.testEvents().succeeded().count()).as("tests").isGreaterThan(10);
  }

  @Test
  @DisplayName("without more than the three methods the rest is skipped, and says why")
  void skips() {
    EngineExecutionResults results = run(Core.class, PublisherInMemory.class);
    assertThat(Failure.of(results)).isEmpty();
    assertThat(results.testEvents().aborted().stream())
        .isNotEmpty()
        .allSatisfy(
            event ->
                assertThat(
                        event
                            .getRequiredPayload(TestExecutionResult.class)
                            .getThrowable()
                            .orElseThrow())
                    .hasMessageStartingWith("skipped: runs when the test class implements"));
  }

  @TestFactory
  @DisplayName("each broken publisher is caught")
  Stream<DynamicTest> caught() {
    return Stream.of(BrokenPublishers.class.getDeclaredClasses())
        .filter(type -> type.isAnnotationPresent(Rule.class))
        .sorted(Comparator.comparing(Failure::ruleOf).thenComparing(Class::getSimpleName))
        .map(type -> type.asSubclass(PublisherInMemory.class))
        .map(type -> new Run(type, RUNS.submit(() -> failures(type))))
        .toList() // all are started
        .stream()
        .map(
            run ->
                DynamicTest.dynamicTest(
                    "by the tests of %s, and by no others: %s"
                        .formatted(Failure.ruleOf(run.broken()), run.broken().getSimpleName()),
                    () -> Failure.assertCaught(run.broken(), run.failures().get())));
  }

  /** Once more where none fails: the suite forgives what a busy machine may have delayed. */
  private static List<Failure> failures(Class<? extends PublisherInMemory> type) {
    List<Failure> failures = List.of();
    for (int tries = 0; failures.isEmpty() && tries < 3; tries++) {
      failures = Failure.of(run(Suite.class, type));
    }
    return failures;
  }

  private record Run(Class<? extends PublisherInMemory> broken, Future<List<Failure>> failures) {}

  private static EngineExecutionResults run(
      Class<?> suite, Class<? extends PublisherInMemory> publisher) {
    PUBLISHER.set(publisher);
    return EngineTestKit.engine("junit-jupiter")
        .configurationParameter("outbox.tck.summary", "false")
        .selectors(selectClass(suite))
        .execute();
  }
}
