package dev.outbox.spi.store;

import dev.outbox.OutboxException;
import java.util.function.Consumer;

/** A store that can tell when something was appended, by whichever process. */
public interface WakeUpStore {

  /**
   * Listens for appends until it is closed. A wake-up is a hint: it may come late, more than once,
   * or not at all while a connection is lost, and a relay polls as well.
   *
   * @param wake called soon after messages were committed, by a thread of the store's; returns at
   *     once
   * @param failed called when listening broke off; the store tries again by itself
   */
  WakeUps listen(Runnable wake, Consumer<OutboxException> failed);

  /** Ends the listening when it is closed. */
  interface WakeUps extends AutoCloseable {

    /** Returns when {@code wake} is not called any more, after a second at the latest. */
    @Override
    void close();
  }
}
