package dev.outbox.store.core.internal;

import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.InboxKey;

/** The lock of a key, of which each database keeps something else. */
public abstract class HeldKey<T> implements Lock<T> {
  protected final InboxKey key;
  private final int attempts;

  protected HeldKey(InboxKey key, int attempts) {
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
    return "lock of %s, attempt %d".formatted(key, attempts);
  }
}
