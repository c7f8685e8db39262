package dev.outbox.testing;

import static java.util.Objects.requireNonNull;

import dev.outbox.Appended;
import dev.outbox.Outbox;
import dev.outbox.OutboxMessage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Keeps what is appended, for tests that have no database. A repeated dedup key is a duplicate, as
 * in a store (A4). Nothing is checked about the transaction, which may be anything, also null: what
 * was appended is kept even when the transaction is rolled back. Safe for use by many threads.
 *
 * @param <T> the transaction's type
 */
public final class RecordingOutbox<T> implements Outbox<T> {
  private final ReentrantLock lock = new ReentrantLock();
  private final List<OutboxMessage> messages = new ArrayList<>();
  private final Set<String> dedupKeys = new HashSet<>();
  private @Nullable RuntimeException failure;

  @Override
  public Appended append(T transaction, List<OutboxMessage> added) {
    lock.lock();
    try {
      if (failure != null) {
        throw failure;
      }
      Set<UUID> duplicates = new HashSet<>();
      for (OutboxMessage message : added) {
        String dedupKey = message.dedupKey();
        if (dedupKey == null || dedupKeys.add(dedupKey)) {
          messages.add(message);
        } else {
          duplicates.add(message.id());
        }
      }
      return Appended.of(added, duplicates);
    } finally {
      lock.unlock();
    }
  }

  /** What was appended so far, in order; a copy. */
  public List<OutboxMessage> messages() {
    lock.lock();
    try {
      return List.copyOf(messages);
    } finally {
      lock.unlock();
    }
  }

  /** As {@link #messages()}, only those of an event type. */
  public List<OutboxMessage> messages(String eventType) {
    return messages().stream().filter(m -> m.eventType().equals(eventType)).toList();
  }

  /** As {@link #messages()}, only those of a key, as {@code order/42}. */
  public List<OutboxMessage> messagesOfKey(String key) {
    return messages().stream().filter(m -> m.key().equals(key)).toList();
  }

  /** Each append from now on throws this and keeps nothing, until {@link #clear}. */
  public void failWith(RuntimeException failure) {
    lock.lock();
    try {
      this.failure = requireNonNull(failure, "failure");
    } finally {
      lock.unlock();
    }
  }

  /** Forgets messages, dedup keys and failure. */
  public void clear() {
    lock.lock();
    try {
      messages.clear();
      dedupKeys.clear();
      failure = null;
    } finally {
      lock.unlock();
    }
  }
}
