package dev.outbox.store.memory;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.StoredMessage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Which rows of which keys one claim was given; the store knows which of them it still holds. */
abstract class MemoryClaim implements Claim {
  final Map<Key, List<Row>> rows = new LinkedHashMap<>();
  final List<StoredMessage> messages = new ArrayList<>();

  /** Of a suspected poison message: its attempt was counted when it was claimed (S6). */
  boolean countedBefore;

  /** Who holds the keys that are kept for those whom this claim is for, if they keep any. */
  final @Nullable MemoryClaim kept;

  private long bytes;

  MemoryClaim(@Nullable MemoryClaim kept) {
    this.kept = kept;
  }

  boolean hasRoomFor(Row row, int maxMessages, long maxBytes) {
    return messages.isEmpty() || (messages.size() < maxMessages && bytes + row.size() <= maxBytes);
  }

  void add(Key key, Row row, StoredMessage message) {
    rows.computeIfAbsent(key, k -> new ArrayList<>()).add(row);
    messages.add(message);
    bytes += row.size();
  }

  @Override
  public List<StoredMessage> messages() {
    return List.copyOf(messages);
  }
}
