package dev.outbox.tck;

import dev.outbox.spi.store.InboxStore;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestClassOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * What every inbox must pass. The author of one writes one test class with three methods:
 *
 * <pre>{@code
 * class MyInboxTest extends InboxStoreTck<Connection> {
 *   protected InboxStore<Connection> createStore() { … }
 *   protected void inTransaction(Consumer<Connection> work) { … }
 *   protected void reset() { … }
 * }
 * }</pre>
 *
 * <p>That runs what can be said through the SPI alone. The rest is unlocked when the class also
 * implements small interfaces of this package, as {@link Retentions}, or when the inbox implements
 * small interfaces of the SPI, as {@link dev.outbox.spi.store.InboxStatisticsStore}. What is not
 * unlocked is skipped and says what would unlock it. All else is as in {@link OutboxStoreTck}.
 *
 * @param <T> the transaction's type
 */
@DisplayNameGeneration(RuleNames.class)
@ExtendWith(Frame.class)
@TestClassOrder(SuiteOrder.class)
public abstract class InboxStoreTck<T> {
  private final PatientInbox<T> patient = new PatientInbox<>(this);

  protected InboxStoreTck() {}

  /**
   * An inbox on the same database each time; called at least once a test, and by several threads.
   * May return the same one each time. Its retention is a day at least.
   */
  protected abstract InboxStore<T> createStore();

  /**
   * Runs {@code work} in a new transaction of the caller: commits when it returns, rolls back and
   * rethrows when it throws. Called by several threads, each with a transaction of its own, and
   * never by the thread that runs the test.
   */
  protected abstract void inTransaction(Consumer<T> work);

  /** Removes all keys. */
  protected abstract void reset();

  /**
   * How long to wait for what has to happen, and for calls of this class and of the inbox to
   * return; default 20 s. After waits in vain it is less, as in {@link OutboxStoreTck#patience}.
   */
  protected Duration patience() {
    return Duration.ofSeconds(20);
  }

  /** The length of a lock or retention that the suite waits for the end of; default 300 ms. */
  protected Duration shortTime() {
    return Duration.ofMillis(300);
  }

  /** How many keys the concurrency tests have; default 100. */
  protected int load() {
    return 100;
  }

  @BeforeEach
  void prepare() {
    patient.prepare();
  }

  /** This test class as the tests call it. */
  PatientInbox<T> patient() {
    return patient;
  }

  @Nested
  @DisplayName("The fixture")
  class Fixture extends InboxFixtureTests<T> {
    Fixture() {
      super(InboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("First time")
  class FirstTime extends InboxRecordTests<T> {
    FirstTime() {
      super(InboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Duplicates")
  class Duplicates extends InboxDuplicateTests<T> {
    Duplicates() {
      super(InboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Locks")
  class Locks extends InboxLockTests<T> {
    Locks() {
      super(InboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Taking over")
  class TakingOver extends InboxTakeoverTests<T> {
    TakingOver() {
      super(InboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Results")
  class Results extends InboxResultTests<T> {
    Results() {
      super(InboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Fingerprints")
  class Fingerprints extends InboxFingerprintTests<T> {
    Fingerprints() {
      super(InboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Forgetting")
  class Forgetting extends InboxRetentionTests<T> {
    Forgetting() {
      super(InboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Statistics")
  class Figures extends InboxStatisticsTests<T> {
    Figures() {
      super(InboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Schema")
  class Schema extends InboxSchemaTests<T> {
    Schema() {
      super(InboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Concurrency")
  @Tag("slow")
  class Concurrency extends InboxConcurrencyTests<T> {
    Concurrency() {
      super(InboxStoreTck.this);
    }
  }
}
