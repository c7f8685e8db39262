package dev.outbox.tck.store;

import dev.outbox.spi.store.OutboxStore;
import dev.outbox.tck.internal.Patience;
import dev.outbox.tck.internal.Patient;
import dev.outbox.tck.internal.Suite;
import dev.outbox.tck.internal.SuiteFrame;

/** The frame of the suite of stores. */
final class StoreFrame extends SuiteFrame {
  @Override
  @SuppressWarnings("unchecked")
  protected Patient<?, ?> patient(Suite<?, ?> suite, Patience patience) {
    return new PatientFixture<>((Suite<Object, OutboxStore<Object>>) suite, patience);
  }
}
