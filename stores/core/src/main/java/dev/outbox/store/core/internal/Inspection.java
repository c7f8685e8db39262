package dev.outbox.store.core.internal;

import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.InspectionStore.Inspected;
import dev.outbox.spi.store.InspectionStore.Listed;
import dev.outbox.spi.store.InspectionStore.Page;
import dev.outbox.spi.store.InspectionStore.Query;
import dev.outbox.spi.store.InspectionStore.WaitingKey;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** As {@link InspectionStore}. It changes nothing, and locks nothing. */
public interface Inspection<H> {
  Page<Listed> messages(H handle, Query query);

  Optional<Inspected> message(H handle, long sequence);

  Page<WaitingKey> waitingKeys(H handle, boolean halted, @Nullable String after, int limit);
}
