package dev.outbox.store.core.internal;

import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.InboxKey;

/**
 * The lock of a key in an inbox. Subclasses say how their database renews and ends it.
 *
 * @param <T> the type of the caller's transactions
 */
public abstract class InboxLock<T> implements Lock<T> {
  protected final InboxKey key;
  private final int attempts;

  protected InboxLock(InboxKey key, int attempts) {
    this.key = key;
    this.attempts = attempts;
  }

  @Override
  public final InboxKey key() {
    return key;
  }

  @Override
  public final int attempts() {
    return attempts;
  }

  @Override
  public final String toString() {
    return "lock of %s, attempt %s".formatted(key, attempts);
  }
}
