package dev.outbox.tck.inbox;

import dev.outbox.spi.store.InboxStore;
import dev.outbox.tck.internal.Patience;
import dev.outbox.tck.internal.Patient;
import dev.outbox.tck.internal.Suite;
import dev.outbox.tck.store.OutboxStoreTck;
import org.junit.jupiter.api.Nested;

/**
 * What every inbox must pass. The author of one writes one test class with three methods, or on
 * JDBC a {@link JdbcInboxStoreTck}; our inbox on MongoDB has a {@link MongoInboxStoreTck}:
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
 * implements small interfaces of this package or of {@code dev.outbox.tck}, as {@link Retentions},
 * or when the inbox implements small interfaces of the SPI, as {@link
 * dev.outbox.spi.store.SchemaStore}. What is not unlocked is skipped and says what would unlock it.
 * All else is as in {@link OutboxStoreTck}.
 *
 * @param <T> the transaction's type
 */
public abstract class InboxStoreTck<T> extends Suite<T, InboxStore<T>> {
  /** An inbox whose retention is a day at least; otherwise as {@link Suite#createStore()}. */
  @Override
  protected abstract InboxStore<T> createStore();

  /** How many keys the concurrency tests have; default 100. */
  @Override
  protected int load() {
    return 100;
  }

  @Override
  protected final Patient<T, InboxStore<T>> patient(Patience patience) {
    return new PatientInbox<>(this, patience);
  }

  @Nested
  class Fixture extends InboxFixtureTests<T> {}

  @Nested
  class FirstTime extends InboxRecordTests<T> {}

  @Nested
  class Locks extends InboxLockTests<T> {}

  @Nested
  class Results extends InboxResultTests<T> {}

  @Nested
  class Forgetting extends InboxRetentionTests<T> {}

  @Nested
  class Concurrency extends InboxConcurrencyTests<T> {}
}
