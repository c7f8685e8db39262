package dev.outbox.store.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectNestedMethod;

import dev.outbox.PermanentOutboxException;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Fingerprint;
import dev.outbox.inbox.InboxKey;
import dev.outbox.tck.Failure;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.platform.commons.support.ReflectionSupport;
import org.junit.platform.testkit.engine.EngineExecutionResults;

/** The suite is worth what it catches. */
class BrokenInboxesTest {

  /** The inbox that {@link Suite} runs on in this thread. */
  private static final ThreadLocal<Class<?>> INBOX = new InheritableThreadLocal<>();

  /** The suite, quicker than a real database allows, and soon out of patience. */
  static class Suite extends MemoryInboxFixture {
    @Override
    MemoryInboxStore newStore(MemoryOutboxStore beside, Duration retention) {
      BrokenInboxes.DATABASE.set(beside);
      BrokenInboxes.RETENTION.set(retention);
      return (MemoryInboxStore) ReflectionSupport.newInstance(INBOX.get());
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
    assertThat(Failure.of(results(NotBroken.class)))
        .as("tests that the memory inbox fails")
        .isEmpty();
  }

  @TestFactory
  @DisplayName("each broken inbox is caught")
  Stream<DynamicTest> caught() {
    return Failure.eachIsCaught(BrokenInboxes.class, NotBroken.class, BrokenInboxesTest::results);
  }

  static class RunsTwice extends Suite {
    @Override
    protected void inTransaction(Consumer<MemoryTransaction> work) {
      super.inTransaction(work.andThen(work));
    }
  }

  static class NeverCommits extends Suite {
    @Override
    protected void inTransaction(Consumer<MemoryTransaction> work) {
      super.inTransaction(work.andThen(MemoryTransaction::rollback));
    }
  }

  static class HasOneConnection extends Suite {
    @Override
    protected synchronized void inTransaction(Consumer<MemoryTransaction> work) {
      super.inTransaction(work);
    }
  }

  static class ResetsNothing extends Suite {
    @Override
    protected void reset() {}
  }

  @TestFactory
  @DisplayName("what is wrong with a fixture is told by its tests")
  Stream<DynamicTest> wrongFixtures() {
    INBOX.set(NotBroken.class);
    return Failure.eachIsTold(
        Map.of(
            RunsTwice.class, "[runs of the work given to inTransaction]",
            NeverCommits.class, "I1: [firstTime once more: either inTransaction does not commit",
            HasOneConnection.class, "did not return",
            ResetsNothing.class, "reset() leaves what is done"));
  }

  /** Fails once, as a database that is restarted. */
  static final class FailsOnce extends BrokenInboxes.Broken {
    private final AtomicInteger begun = new AtomicInteger();

    @Override
    public Begin<MemoryTransaction> begin(InboxKey key, Duration lock, Fingerprint fingerprint) {
      if (begun.incrementAndGet() == 100) {
        throw new PermanentOutboxException("the server is restarted");
      }
      return super.begin(key, lock, fingerprint);
    }
  }

  static class Endless extends Suite {
    @Override
    protected int load() {
      return Integer.MAX_VALUE;
    }
  }

  @Test
  @DisplayName("when one of many consumers fails, the others do not go on behind the next test")
  void othersStop() throws InterruptedException {
    INBOX.set(FailsOnce.class);
    EngineExecutionResults results =
        Failure.results(
            selectNestedMethod(
                List.of(Endless.class.getName()),
                "dev.outbox.tck.inbox.InboxStoreTck$Concurrency",
                "oneLock"));
    assertThat(Failure.of(results)).singleElement().asString().contains("the server is restarted");
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().equals("consumer")) {
        thread.join(5_000);
        assertThat(thread.isAlive()).as("whether a consumer goes on").isFalse();
      }
    }
  }

  private static EngineExecutionResults results(Class<?> inbox) {
    INBOX.set(inbox);
    return Failure.results(Suite.class);
  }
}
