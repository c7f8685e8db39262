package dev.outbox;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * What an append did. All its sets and maps are unmodifiable.
 *
 * @param stored the ids of the messages that were stored
 * @param duplicates the ids of those that were not, because their dedup key had been appended
 *     before within the dedup window (A4); empty as a rule
 * @param sequences by id, the sequence of a message that was stored; empty where the store does not
 *     learn it from the append
 */
public record Appended(Set<UUID> stored, Set<UUID> duplicates, Map<UUID, Long> sequences) {
  public Appended {
    stored = Set.copyOf(stored);
    duplicates = Set.copyOf(duplicates);
    sequences = Map.copyOf(sequences);
  }

  /** For a store that learns no sequences. */
  public static Appended of(List<OutboxMessage> messages, Set<UUID> duplicates) {
    return of(messages, duplicates, Map.of());
  }

  /** For a store that learns the sequences of what it has stored. */
  public static Appended of(
      List<OutboxMessage> messages, Set<UUID> duplicates, Map<UUID, Long> sequences) {
    Set<UUID> stored = new HashSet<>();
    messages.forEach(message -> stored.add(message.id()));
    stored.removeAll(duplicates);
    return new Appended(stored, duplicates, sequences);
  }

  /** Whether every message was stored. */
  public boolean allStored() {
    return duplicates.isEmpty();
  }
}
