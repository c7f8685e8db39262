package dev.outbox.tck.store;

import dev.outbox.spi.store.OutboxStore;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Patience;
import dev.outbox.tck.internal.Patient;
import dev.outbox.tck.internal.Suite;
import org.junit.jupiter.api.Nested;

/**
 * What every store must pass. The author of a store writes one test class with three methods, or on
 * JDBC a {@link JdbcOutboxStoreTck}; our stores on MongoDB have {@link MongoOutboxStoreTck}:
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
 * implements small interfaces of this package or of {@code dev.outbox.tck}, as {@link RawRows}, or
 * when the store implements small interfaces of the SPI, as {@link
 * dev.outbox.spi.store.DeadLetterStore}. What is not unlocked is skipped and says what would unlock
 * it. Rule numbers are on each test or its class as {@link Rule}, in its name and at the begin of
 * its failures; the tag {@code slow} is on those that take seconds on a database.
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
public abstract class OutboxStoreTck<T> extends Suite<T, OutboxStore<T>> {
  /**
   * Removes all messages, dead letters, leases and remembered dedup keys, and what they took up:
   * with {@code TRUNCATE} where {@code DELETE} leaves something to read over (C5).
   */
  @Override
  protected abstract void reset();

  /** How many messages the concurrency tests append; default 2,000. */
  @Override
  protected int load() {
    return 2_000;
  }

  @Override
  protected final Patient<T, OutboxStore<T>> patient(Patience patience) {
    return new PatientFixture<>(this, patience);
  }

  @Nested
  class Fixture extends FixtureTests<T> {}

  @Nested
  class Append extends AppendTests<T> {}

  @Nested
  class Fields extends FieldTests<T> {}

  @Nested
  class Claims extends ClaimTests<T> {}

  @Nested
  class Leases extends LeaseTests<T> {}

  @Nested
  class Keeping extends KeeperTests<T> {}

  @Nested
  class Settle extends SettleTests<T> {}

  @Nested
  class Order extends OrderTests<T> {}

  @Nested
  class Cancelled extends CancelTests<T> {}

  @Nested
  class Archived extends ArchiveTests<T> {}

  @Nested
  class Figures extends FigureTests<T> {}

  @Nested
  class Clock extends ClockTests<T> {}

  @Nested
  class Work extends WorkTests<T> {}

  @Nested
  class Concurrency extends ConcurrencyTests<T> {}
}
