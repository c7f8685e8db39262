package dev.outbox;

import java.util.List;

/** An {@link Outbox} that joins the current transaction. */
@FunctionalInterface
public interface JoinedOutbox {

  /** As {@link Outbox#append(Object, List)}, in the current transaction. */
  Appended append(List<OutboxMessage> messages);

  /** As {@link Outbox#append(Object, OutboxMessage)}, in the current transaction. */
  default Appended append(OutboxMessage message) {
    return append(List.of(message));
  }
}
