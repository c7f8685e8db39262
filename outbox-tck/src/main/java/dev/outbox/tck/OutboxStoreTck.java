package dev.outbox.tck;

import dev.outbox.spi.OutboxStore;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.opentest4j.TestAbortedException;

/**
 * What every store must pass. The author of a store writes one test class with three methods:
 *
 * <pre>{@code
 * class MyStoreTest extends OutboxStoreTck<Connection> {
 *   protected OutboxStore<Connection> createStore() { … }
 *   protected void inTransaction(Consumer<Connection> work) { … }
 *   protected void reset() { … }
 * }
 * }</pre>
 *
 * <p>That runs what can be said through the SPI alone. The rest is unlocked when the class also
 * implements small interfaces of this package, as {@link RawRows}, or when the store implements
 * small interfaces of the SPI, as {@link dev.outbox.spi.DeadLetterStore}. What is not unlocked is
 * skipped and says what would unlock it. Rule numbers are on each test as {@link Rule}; the tag
 * {@code slow} is on those that take seconds on a database.
 *
 * <p>The suite knows no clock but the store's: what it needs to happen it waits for, up to {@link
 * #patience}; what must not happen yet lies hours ahead.
 *
 * @param <T> the transaction's type
 */
public abstract class OutboxStoreTck<T> {
  private OutboxStore<T> store;

  @SuppressWarnings("NullAway.Init") // set before each test
  protected OutboxStoreTck() {}

  /**
   * A store on the same database each time; called at least once a test, and by several threads.
   * May return the same one each time.
   */
  protected abstract OutboxStore<T> createStore();

  /**
   * Runs {@code work} in a new transaction of the caller: commits when it returns, rolls back and
   * rethrows when it throws. Called by several threads, each with a transaction of its own.
   */
  protected abstract void inTransaction(Consumer<T> work);

  /** Removes all messages, dead letters, leases and remembered dedup keys. */
  protected abstract void reset();

  /** How long to wait for what has to happen; default 20 s. */
  protected Duration patience() {
    return Duration.ofSeconds(20);
  }

  /** The length of a lease or delay that the suite waits for the end of; default 300 ms. */
  protected Duration shortTime() {
    return Duration.ofMillis(300);
  }

  /** How many messages the concurrency tests append; default 2,000. */
  protected int load() {
    return 2_000;
  }

  @BeforeEach
  void prepare() {
    reset();
    store = createStore();
  }

  void use(OutboxStore<T> other) {
    store = other;
  }

  OutboxStore<T> store() {
    return store;
  }

  /** This test class as the fixture that unlocks a test. */
  @SuppressWarnings("unchecked")
  <F> F fixture(Class<? super F> type) {
    if (!type.isInstance(this)) {
      throw new TestAbortedException(
          "skipped: runs when the test class implements " + type.getSimpleName());
    }
    return (F) this;
  }

  /** The store as one that has an optional ability. */
  <A> A ability(Class<A> type) {
    if (!type.isInstance(store)) {
      throw new TestAbortedException(
          "skipped: runs when the store implements " + type.getSimpleName());
    }
    return type.cast(store);
  }

  @Nested
  @DisplayName("The fixture")
  class Fixture extends FixtureTests<T> {
    Fixture() {
      super(OutboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Append")
  class Append extends AppendTests<T> {
    Append() {
      super(OutboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Fields")
  class Fields extends FieldTests<T> {
    Fields() {
      super(OutboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Limits")
  class Limits extends LimitTests<T> {
    Limits() {
      super(OutboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Duplicates")
  class Duplicates extends DuplicateTests<T> {
    Duplicates() {
      super(OutboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Rows by plain SQL")
  class PlainSql extends PlainSqlTests<T> {
    PlainSql() {
      super(OutboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Claim")
  class Claims extends ClaimTests<T> {
    Claims() {
      super(OutboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Leases")
  class Leases extends LeaseTests<T> {
    Leases() {
      super(OutboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Fairness")
  class Fairness extends FairnessTests<T> {
    Fairness() {
      super(OutboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Settle")
  class Settle extends SettleTests<T> {
    Settle() {
      super(OutboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Decisions")
  class Decisions extends DecisionTests<T> {
    Decisions() {
      super(OutboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Order")
  class Order extends OrderTests<T> {
    Order() {
      super(OutboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Dead letters")
  class DeadLetters extends DeadLetterTests<T> {
    DeadLetters() {
      super(OutboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Poison")
  class Poison extends PoisonTests<T> {
    Poison() {
      super(OutboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Clock")
  class Clock extends ClockTests<T> {
    Clock() {
      super(OutboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Schema")
  class Schema extends SchemaTests<T> {
    Schema() {
      super(OutboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Work")
  @Tag("slow")
  class Work extends WorkTests<T> {
    Work() {
      super(OutboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Clients that stop and servers that are killed")
  @Tag("slow")
  class Failures extends FailureTests<T> {
    Failures() {
      super(OutboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Concurrency")
  @Tag("slow")
  @TestInstance(Lifecycle.PER_CLASS) // its tests ask about one run
  class Concurrency extends ConcurrencyTests<T> {
    Concurrency() {
      super(OutboxStoreTck.this);
    }
  }
}
