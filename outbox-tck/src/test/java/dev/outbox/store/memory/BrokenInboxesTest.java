package dev.outbox.store.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

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
import org.junit.platform.testkit.engine.EngineTestKit;

/** The suite is worth what it catches. */
class BrokenInboxesTest {

  /** The inbox that {@link Suite} runs on in this thread. */
  private static final ThreadLocal<Class<?>> INBOX = new InheritableThreadLocal<>();

  /** Most of the time the suite waits. */
  private static final ExecutorService RUNS = Executors.newFixedThreadPool(4);

  @AfterAll
  static void end() {
    RUNS.shutdownNow();
  }

  /** The suite, quicker than a real database allows, and soon out of patience. */
  static class Suite extends MemoryInboxFixture {
    @Override
    MemoryInboxStore newStore(MemoryOutboxStore beside, Duration retention) {
      BrokenInboxes.DATABASE.set(beside);
      BrokenInboxes.RETENTION.set(retention);
      try {
        return (MemoryInboxStore) INBOX.get().getDeclaredConstructor().newInstance();
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    protected Duration shortTime() {
      return Duration.ofMillis(30);
    }

    @Override
    protected Duration patience() {
      return Duration.ofSeconds(5);
    }

    @Override
    protected int load() {
      return 50;
    }
  }

  static final class NotBroken extends BrokenInboxes.Broken {}

  @Test
  @DisplayName("the memory inbox passes, so that what fails below is broken")
  void passes() {
    assertThat(failures(NotBroken.class)).as("tests that the memory inbox fails").isEmpty();
  }

  @TestFactory
  @DisplayName("each broken inbox is caught")
  Stream<DynamicTest> caught() {
    return Stream.of(BrokenInboxes.class.getDeclaredClasses())
        .filter(type -> type.isAnnotationPresent(Rule.class))
        .sorted(Comparator.comparing(Failure::ruleOf).thenComparing(Class::getSimpleName))
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

  private record Run(Class<?> broken, Future<List<Failure>> failures) {}

  private static List<Failure> failures(Class<?> inbox) {
    INBOX.set(inbox);
    return Failure.of(
        EngineTestKit.engine("junit-jupiter")
            .selectors(selectClass(Suite.class))
            .configurationParameter("outbox.tck.summary", "false")
            .execute());
  }
}
