package dev.outbox.store.memory;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Which rows of which keys one claim was given; the store knows which of them it still holds. */
final class MemoryClaim implements Claim {
  private final MemoryOutboxStore store;
  final Map<Key, List<Row>> rows = new LinkedHashMap<>();
  final List<StoredMessage> messages = new ArrayList<>();

  /** Of a suspected poison message: its attempt was counted when it was claimed (S6). */
  boolean countedBefore;

  /** Who holds the keys that are kept for those whom this claim is for, if they keep any. */
  final @Nullable MemoryClaim kept;

  private long bytes;

  MemoryClaim(MemoryOutboxStore store) {
    this(store, null);
  }

  MemoryClaim(MemoryOutboxStore store, @Nullable MemoryClaim kept) {
    this.store = store;
    this.kept = kept;
  }

  boolean hasRoomFor(Row row, int maxMessages, long maxBytes) {
    return messages.isEmpty() || (messages.size() < maxMessages && bytes + row.size() <= maxBytes);
  }

  void add(Key key, Row row) {
    rows.computeIfAbsent(key, k -> new ArrayList<>()).add(row);
    messages.add(row.toStored());
    bytes += row.size();
  }

  @Override
  public List<StoredMessage> messages() {
    return List.copyOf(messages);
  }

  @Override
  public Set<Long> renew(Duration lease) {
    return store.renew(this, lease);
  }

  @Override
  public Set<Long> settle(Map<Long, Decision> decisions) {
    return store.settle(this, decisions);
  }
}
