package dev.outbox.store.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectNestedMethod;

import dev.outbox.Appended;
import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Decision;
import dev.outbox.tck.Failure;
import dev.outbox.tck.store.ExpiresMessages;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.platform.commons.support.ReflectionSupport;
import org.junit.platform.testkit.engine.EngineExecutionResults;

/** The suite is worth what it catches. */
class BrokenStoresTest {

  /** The store that {@link Suite} runs on in this thread. */
  static final ThreadLocal<Class<?>> STORE = new InheritableThreadLocal<>();

  /** The suite, quicker than a real database allows, and soon out of patience. */
  static class WithoutExpiry extends MemoryStoreFixture {
    @Override
    MemoryOutboxStore newStore(
        InstantSource clock,
        Duration dedupWindow,
        Archive archive,
        @Nullable Duration deadLetterRetention) {
      BrokenStores.ARCHIVE.set(archive);
      BrokenStores.DEAD_LETTER_RETENTION.set(deadLetterRetention);
      BrokenStores.CLOCK.set(clock);
      BrokenStores.DEDUP_WINDOW.set(dedupWindow);
      return (MemoryOutboxStore) ReflectionSupport.newInstance(STORE.get());
    }

    @Override
    protected Duration shortTime() {
      return Duration.ofMillis(15);
    }

    @Override
    protected Duration patience() {
      return Duration.ofSeconds(3);
    }

    @Override
    protected int load() {
      return 600;
    }
  }

  static class Suite extends WithoutExpiry implements ExpiresMessages {}

  static final class NotBroken extends BrokenStores.Broken {}

  @Test
  @DisplayName("the memory store passes, so that what fails below is broken")
  void passes() {
    assertThat(failures(NotBroken.class)).as("tests that the memory store fails").isEmpty();
  }

  /** Hands out one message of a key in a claim, and nothing while any claim is live. */
  static final class Modest extends BrokenStores.Broken {
    @Override
    boolean isFree(Key key, Instant now) {
      return super.isFree(key, now)
          && keys.values().stream()
              .noneMatch(k -> k.isLeased(now) && !((MemoryClaim) k.holder).rows.isEmpty());
    }

    @Override
    List<Row> due(Key key, Instant now) {
      return super.due(key, now).stream().limit(1).toList();
    }
  }

  @Test
  @DisplayName("a store that hands out little, and leases more than it hands out, passes too")
  void modest() {
    assertThat(failures(Modest.class)).as("tests that a modest store fails").isEmpty();
  }

  static final class RefusesExpiry extends BrokenStores.WithoutExpiry {
    @Override
    public synchronized Appended append(
        MemoryTransaction transaction, List<OutboxMessage> messages) {
      messages.forEach(RefusesExpiry::refuseExpiry);
      return super.append(transaction, messages);
    }
  }

  @Test
  @DisplayName("a store that refuses what can expire passes too")
  void refuses() {
    assertThat(failures(RefusesExpiry.class)).as("tests that it fails").isEmpty();
  }

  @TestFactory
  @DisplayName("each broken store is caught")
  Stream<DynamicTest> caught() {
    return Failure.eachIsCaught(BrokenStores.class, NotBroken.class, BrokenStoresTest::results);
  }

  @Test
  @DisplayName("docs/tck.md quotes what is said to stores of this set")
  void onThePage() {
    assertThat(Failure.onThePage(BrokenStores.class)).hasSize(6);
  }

  /**
   * Leases that hold nobody back, and settles that nobody checks. Order and loss may well look
   * right then; only who held what shows it.
   */
  static final class NotFenced extends BrokenStores.Broken {
    @Override
    boolean isFree(Key key, Instant now) {
      return true;
    }

    @Override
    boolean holds(MemoryClaim claim, Key key) {
      return true;
    }
  }

  @Test
  @DisplayName("missing fencing is seen under load by who held what")
  void notFenced() {
    assertThat(failures(NotFenced.class))
        .as("tests that a store without fencing fails")
        .anyMatch(failure -> failure.thrown().getMessage().contains("was in two live claims"));
  }

  /** Whoever has a dedup key has it for long enough to be met, on any machine. */
  static final class InsertsSlowly extends BrokenStores.LooksThenInserts {
    @Override
    public Appended append(MemoryTransaction transaction, List<OutboxMessage> messages) {
      Appended appended = super.append(transaction, messages);
      if (messages.stream().anyMatch(message -> message.dedupKey() != null)) {
        LockSupport.parkNanos(20_000_000);
      }
      return appended;
    }
  }

  @Test
  @DisplayName("producers with the same dedup key meet under load")
  void dedupKeysUnderLoad() {
    STORE.set(InsertsSlowly.class);
    EngineExecutionResults results =
        Failure.results(
            selectNestedMethod(
                List.of(Suite.class.getName()),
                "dev.outbox.tck.store.OutboxStoreTck$Concurrency",
                "underLoad"));
    assertThat(Failure.of(results))
        .singleElement()
        .satisfies(failure -> assertThat(failure.thrown()).hasMessageStartingWith("A4, C8, C9: "));
  }

  /** Settles by key. */
  static final class DeletesTheKey extends BrokenStores.Broken {
    @Override
    void apply(Key key, Row row, Decision decision, boolean countedBefore) {
      super.apply(key, row, decision, countedBefore);
      if (decision instanceof Decision.Delivered) {
        key.rows.clear();
      }
    }
  }

  @Test
  @DisplayName("a settle that deletes the whole key is told so first")
  void deletesTheKey() {
    EngineExecutionResults results = results(DeletesTheKey.class);
    List<Failure> failures = Failure.of(results);
    assertThat(failures)
        .first()
        .satisfies(
            failure -> {
              assertThat(failure.rules()).containsExactly("S2");
              assertThat(failure.thrown())
                  .hasMessageContaining("due after the first of two was delivered");
            });
    assertThat(results.testEvents().skipped().count()).as("tests for which no time was").isZero();
  }

  private static List<Failure> failures(Class<?> store) {
    return Failure.of(results(store));
  }

  private static EngineExecutionResults results(Class<?> store) {
    STORE.set(store);
    return Failure.results(
        BrokenStores.WithoutExpiry.class.isAssignableFrom(store)
            ? WithoutExpiry.class
            : Suite.class);
  }
}
