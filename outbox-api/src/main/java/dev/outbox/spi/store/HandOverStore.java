package dev.outbox.spi.store;

import dev.outbox.Appended;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.KeepingStore.Keeper;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * A store that can hand messages over to the workers of a relay in the process that appends them,
 * without reading them (C9).
 *
 * @param <T> the transaction's type
 */
public interface HandOverStore<T> extends OutboxStore<T>, KeepingStore {

  /**
   * Appends as {@link dev.outbox.Outbox#append} does, with its errors.
   *
   * @param keeper one of this store's
   */
  Uncommitted append(Keeper keeper, T transaction, List<OutboxMessage> messages);

  /** What was appended in a transaction that is still open. */
  interface Uncommitted {
    Appended appended();

    /**
     * Says that the transaction has committed: hands over what the keeper may have. Never to be
     * called where that is not known for sure. From any thread, without blocking; throws nothing.
     *
     * @return whether everything was handed over; what was not, a claim has to find
     */
    boolean committed();

    /**
     * @param committed what {@link #committed} does
     */
    static Uncommitted of(Appended appended, BooleanSupplier committed) {
      return new Uncommitted() {
        @Override
        public Appended appended() {
          return appended;
        }

        @Override
        public boolean committed() {
          return committed.getAsBoolean();
        }
      };
    }
  }
}
