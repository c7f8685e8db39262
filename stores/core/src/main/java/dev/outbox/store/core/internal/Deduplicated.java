package dev.outbox.store.core.internal;

import dev.outbox.OutboxMessage;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/**
 * Messages to append and the duplicates among them (A4), for databases that ask about dedup keys
 * before they insert.
 */
public record Deduplicated(List<OutboxMessage> fresh, Set<UUID> duplicates) {

  /** The dedup keys, in order, so that two that append the same ones do not deadlock. */
  public static Set<String> keys(List<OutboxMessage> messages) {
    Set<String> keys = new TreeSet<>();
    messages.stream().map(OutboxMessage::dedupKey).filter(Objects::nonNull).forEach(keys::add);
    return keys;
  }

  /**
   * @param freshKeys those that nobody appended within the window
   */
  public static Deduplicated of(List<OutboxMessage> messages, Collection<String> freshKeys) {
    Set<String> untaken = new HashSet<>(freshKeys);
    Set<UUID> duplicates = new HashSet<>();
    List<OutboxMessage> fresh = new ArrayList<>();
    for (OutboxMessage message : messages) {
      // The key's first message in this call takes it.
      if (message.dedupKey() == null || untaken.remove(message.dedupKey())) {
        fresh.add(message);
      } else {
        duplicates.add(message.id());
      }
    }
    return new Deduplicated(fresh, Set.copyOf(duplicates));
  }
}
