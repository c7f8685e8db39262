package dev.outbox.tck.store;

import dev.outbox.OutboxMessage;
import dev.outbox.tck.internal.OpenWork;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/** A producer's transaction that stays open until it is told to end. */
final class OpenTransaction<T> extends OpenWork<T> {
  private final PatientFixture<T> tck;

  OpenTransaction(PatientFixture<T> tck) {
    super(tck);
    this.tck = tck;
  }

  /** Begins an append; it may have to wait for another transaction. */
  CompletableFuture<Set<UUID>> startAppend(List<OutboxMessage> messages) {
    return start(t -> tck.store().append(t, messages).duplicates());
  }

  Set<UUID> append(OutboxMessage... messages) {
    return get("append", startAppend(List.of(messages)));
  }
}
