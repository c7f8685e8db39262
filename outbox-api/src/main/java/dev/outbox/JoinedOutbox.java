package dev.outbox;

import java.util.List;
import java.util.Set;
import java.util.UUID;

/** An {@link Outbox} that joins the current transaction. */
@FunctionalInterface
public interface JoinedOutbox {

  /** As {@link Outbox#append(Object, List)}, in the current transaction. */
  Set<UUID> append(List<OutboxMessage> messages);

  /** As {@link Outbox#append(Object, OutboxMessage)}, in the current transaction. */
  default boolean append(OutboxMessage message) {
    return append(List.of(message)).isEmpty();
  }
}
