package dev.outbox.tck.inbox;

import dev.outbox.spi.store.InboxStore;
import dev.outbox.tck.internal.Patience;
import dev.outbox.tck.internal.Patient;
import dev.outbox.tck.internal.Suite;
import dev.outbox.tck.internal.SuiteFrame;

/** The frame of the suite of inboxes. */
final class InboxFrame extends SuiteFrame {
  @Override
  @SuppressWarnings("unchecked")
  protected Patient<?, ?> patient(Suite<?, ?> suite, Patience patience) {
    return new PatientInbox<>((Suite<Object, InboxStore<Object>>) suite, patience);
  }
}
