package dev.outbox.tck.internal;

import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.TestClassOrder;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.TestInstances;

/**
 * What the suites of stores and of inboxes ask of a test class.
 *
 * @param <T> the transaction's type
 * @param <S> the store's or the inbox's type
 */
@DisplayNameGeneration(RuleNames.class)
@ExtendWith(Suite.SuiteFrame.class)
@TestClassOrder(Place.Order.class)
public abstract class Suite<T, S> {
  /**
   * One on the same database each time; called at least once a test, and by several threads. May
   * return the same one each time.
   */
  protected abstract S createStore();

  /**
   * Runs {@code work} in a new transaction of the caller: commits when it returns, rolls back and
   * rethrows when it throws. Called by several threads, each with a transaction of its own, and
   * never by the thread that runs the test.
   */
  protected abstract void inTransaction(Consumer<T> work);

  /** Removes all that is stored. */
  protected abstract void reset();

  /**
   * How long to wait for what has to happen, and for calls of this class and of the store to
   * return; default 20 s. After waits in vain it is less, down to 2 s, but never less than some
   * times what took longest.
   */
  protected Duration patience() {
    return Duration.ofSeconds(20);
  }

  /** The length of a lease, lock or delay that the suite waits for the end of; default 300 ms. */
  protected Duration shortTime() {
    return Duration.ofMillis(300);
  }

  /** How many messages or keys the concurrency tests have. */
  protected abstract int load();

  /** This test class as its tests know it. */
  protected abstract Patient<T, S> patient(Patience patience);

  static final class SuiteFrame extends Frame {
    @Override
    @SuppressWarnings({"unchecked", "rawtypes"})
    protected Tested tested(TestInstances tests, Patience patience) {
      Patient<?, ?> patient = tests.findInstance(Suite.class).orElseThrow().patient(patience);
      tests.findInstance(SuiteTests.class).ifPresent(test -> test.tck = patient);
      return patient;
    }
  }
}
