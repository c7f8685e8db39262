package dev.outbox.spi.store;

import dev.outbox.Outbox;
import java.util.OptionalInt;

/**
 * One database behind the outbox: append, claim, renew, settle. Everything about time is the
 * database's clock (T1). Safe for use by many threads.
 *
 * <p>More abilities are small interfaces beside this one, which the package's page names.
 *
 * @param <T> the transaction's type
 */
public interface OutboxStore<T> extends Outbox<T>, Claim.Source {

  /**
   * How many connections can be open at once; a relay refuses to have more workers than fit. Empty
   * when the store cannot know, which is the default.
   */
  default OptionalInt maxConnections() {
    return OptionalInt.empty();
  }

  /**
   * Purges what is no longer needed and repairs what can be. A relay calls it about each minute, or
   * each ten minutes where it holds nothing and others do. A relay that stops interrupts the thread
   * and waits for it: end soon then, the next call does the rest. Does nothing by default.
   */
  default void housekeep() {}
}
