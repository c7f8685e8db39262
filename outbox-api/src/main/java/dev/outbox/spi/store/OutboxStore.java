package dev.outbox.spi.store;

import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import java.util.OptionalInt;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

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
   * Purges what is no longer needed and repairs what can be; a relay calls it about each minute, or
   * each ten minutes where it holds nothing and others do. A relay that stops interrupts the thread
   * and waits for it: what takes long should then end soon, and what is left is done the next time.
   * Does nothing by default.
   */
  default void housekeep() {}

  /**
   * Listens for appends, by whichever process, until it is closed. A wake-up is a hint: it may come
   * late, more than once, or not at all while a connection is lost, and a relay polls as well.
   *
   * @param wake called soon after messages were committed, by a thread of the store's; returns at
   *     once
   * @param failed called when listening broke off; the store tries again by itself
   * @return null when the store cannot tell, which is the default
   */
  default @Nullable WakeUps listen(Runnable wake, Consumer<OutboxException> failed) {
    return null;
  }

  /** Ends the listening when it is closed. */
  interface WakeUps extends AutoCloseable {

    /** Returns when {@code wake} is not called any more, after a second at the latest. */
    @Override
    void close();
  }
}
