package dev.outbox.tck.inbox;

import dev.outbox.inbox.Begin;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.tck.internal.Patience;
import dev.outbox.tck.internal.Patient;
import dev.outbox.tck.internal.Suite;
import org.jspecify.annotations.Nullable;

/** An inbox's test class as the tests know it. */
final class PatientInbox<T> extends Patient<T, InboxStore<T>> {
  private static final Causes CAUSES =
      new Causes(
          "something still holds locks. A lock of begin must not be an open transaction (I4)",
          "all connections are in use, or the commit waits for a lock",
          "it waits for a lock, or for a connection. Does a lock of begin keep one? It must not be an"
              + " open transaction (I4)",
          "it waits for a lock of an open transaction, or for a connection",
          "I2");

  PatientInbox(Suite<T, InboxStore<T>> suite, Patience patience) {
    super(suite, patience, CAUSES);
  }

  @Override
  protected @Nullable Object known(@Nullable Object result) {
    if (result instanceof Begin.Started<?> started) {
      return new Begin.Started<>(patient(started.lock()));
    }
    return result instanceof InboxStore<?> other ? patient(other) : result;
  }
}
