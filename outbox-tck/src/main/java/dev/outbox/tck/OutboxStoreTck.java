package dev.outbox.tck;

import dev.outbox.spi.store.OutboxStore;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestClassOrder;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.extension.ExtendWith;

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
 * small interfaces of the SPI, as {@link dev.outbox.spi.store.DeadLetterStore}. What is not
 * unlocked is skipped and says what would unlock it. Rule numbers are on each test as {@link Rule},
 * in its name and at the begin of its failures; the tag {@code slow} is on those that take seconds
 * on a database.
 *
 * <p>The tests of the fixture run first; when one of them fails, or {@link #reset} does not return,
 * nothing else runs. When the tests that failed took a minute altogether the rest is skipped,
 * unless {@code -Doutbox.tck.all=true}. What a test leaves claimed is given back after it. Why
 * tests were skipped is printed at the end, unless {@code -Doutbox.tck.summary=false}.
 *
 * <p>The suite knows no clock but the store's: what it needs to happen it waits for, up to {@link
 * #patience}; what must not happen yet lies hours ahead.
 *
 * @param <T> the transaction's type
 */
@DisplayNameGeneration(RuleNames.class)
@ExtendWith(Frame.class)
@TestClassOrder(SuiteOrder.class)
public abstract class OutboxStoreTck<T> {
  private final PatientFixture<T> patient = new PatientFixture<>(this);

  protected OutboxStoreTck() {}

  /**
   * A store on the same database each time; called at least once a test, and by several threads.
   * May return the same one each time.
   */
  protected abstract OutboxStore<T> createStore();

  /**
   * Runs {@code work} in a new transaction of the caller: commits when it returns, rolls back and
   * rethrows when it throws. Called by several threads, each with a transaction of its own, and
   * never by the thread that runs the test.
   */
  protected abstract void inTransaction(Consumer<T> work);

  /**
   * Removes all messages, dead letters, leases and remembered dedup keys, and what they took up:
   * with {@code TRUNCATE} where {@code DELETE} leaves something to read over (C5).
   */
  protected abstract void reset();

  /**
   * How long to wait for what has to happen, and for calls of this class and of the store to
   * return; default 20 s. After waits in vain it is less, down to 2 s, but never less than some
   * times what took longest.
   */
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
    patient.prepare();
  }

  @AfterEach
  void giveBack() {
    patient.giveBack();
  }

  /** This test class as the tests call it. */
  PatientFixture<T> patient() {
    return patient;
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
  @DisplayName("Keeping")
  class Keeping extends KeepingTests<T> {
    Keeping() {
      super(OutboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Hand-over")
  class HandOver extends HandOverTests<T> {
    HandOver() {
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
  @DisplayName("Archive")
  class Archived extends ArchiveTests<T> {
    Archived() {
      super(OutboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Archive, looked at and replayed")
  class Replayed extends ReplayTests<T> {
    Replayed() {
      super(OutboxStoreTck.this);
    }
  }

  @Nested
  @DisplayName("Statistics")
  class Figures extends StatisticsTests<T> {
    Figures() {
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
