package dev.outbox.store.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.tck.Failure;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

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
    return Failure.eachIsCaught(BrokenInboxes.class, BrokenInboxesTest::failures);
  }

  private static List<Failure> failures(Class<?> inbox) {
    INBOX.set(inbox);
    return Failure.of(Failure.results(Suite.class));
  }
}
