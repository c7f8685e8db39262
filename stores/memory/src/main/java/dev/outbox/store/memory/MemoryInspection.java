package dev.outbox.store.memory;

import static java.util.Objects.requireNonNull;

import dev.outbox.spi.store.ArchiveStore;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.InspectionStore.Inspected;
import dev.outbox.spi.store.InspectionStore.Listed;
import dev.outbox.spi.store.InspectionStore.Page;
import dev.outbox.spi.store.InspectionStore.Query;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.InspectionStore.WaitingKey;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Looks at messages and keys at one moment.
 *
 * @param keys all that there are
 */
record MemoryInspection(Collection<Key> keys, Instant now) {
  private static final String BEHIND = ">";

  Page<Listed> messages(Query query) {
    long after = query.afterSequence();
    return page(
        keys.stream()
            .flatMap(key -> key.rows.values().stream().map(row -> listed(key, row)))
            .filter(message -> message.sequence() > after)
            .filter(query::includes)
            .sorted(Comparator.comparing(Listed::sequence)),
        query.limit(),
        last -> Long.toString(last.sequence()));
  }

  private static <T> Page<T> page(Stream<T> found, int limit, Function<T, String> cursor) {
    List<T> first = found.limit(limit + 1L).toList();
    return first.size() <= limit
        ? new Page<>(first, null)
        : new Page<>(first.subList(0, limit), cursor.apply(first.get(limit - 1)));
  }

  private Listed listed(Key key, Row row) {
    return new Listed(
        row.sequence,
        row.message == null ? "" : row.message.id().toString(),
        status(key, row),
        row.key,
        row.message == null ? null : row.message.aggregateType(),
        row.message == null ? null : row.message.eventType(),
        row.message == null ? null : row.message.dedupKey(),
        row.attempts,
        row.createdAt,
        row.dueAt == Row.ALWAYS ? null : row.dueAt,
        row.message == null ? null : row.message.expiresAt(),
        row.error,
        row.failedAt,
        row.dead && row.haltsKey);
  }

  private Status status(Key key, Row row) {
    if (row.dead) {
      return Status.DEAD;
    }
    Row head = head(key);
    if (key.isHalted() || (head != null && head.sequence <= row.sequence)) {
      return Status.BLOCKED;
    }
    return row.isDue(now) ? Status.PENDING : Status.SCHEDULED;
  }

  /** The one that is tried again, or the dead letter that halts the key; null: the key is free. */
  private static @Nullable Row head(Key key) {
    boolean halted = key.isHalted();
    return key.rows.values().stream()
        .filter(row -> halted ? row.dead && row.haltsKey : row.failed && !row.dead)
        .findFirst()
        .orElse(null);
  }

  Optional<Inspected> message(long sequence) {
    return keys.stream()
        .filter(key -> key.rows.containsKey(sequence))
        .findFirst()
        .map(
            key -> {
              Row row = requireNonNull(key.rows.get(sequence));
              return Inspected.of(listed(key, row), row.toStored(), waiting(key));
            });
  }

  Page<WaitingKey> waitingKeys(boolean halted, @Nullable String after, int limit) {
    int most = ArchiveStore.checked(limit);
    if (after != null && !after.startsWith(BEHIND)) {
      throw new IllegalArgumentException(
          "after is %s, which no page of keys has named".formatted(after));
    }
    return page(
        keys.stream()
            .filter(key -> after == null || (BEHIND + key.name).compareTo(after) > 0)
            .sorted(Comparator.comparing(key -> key.name))
            .map(MemoryInspection::waiting)
            .filter(Objects::nonNull)
            .filter(key -> key.halted() || !halted),
        most,
        last -> BEHIND + last.key());
  }

  private static @Nullable WaitingKey waiting(Key key) {
    Row head = head(key);
    return head == null
        ? null
        : new WaitingKey(
            key.name,
            head.sequence,
            head.dead,
            head.dead ? null : head.dueAt,
            (int)
                key.live().stream()
                    .filter(row -> row != head)
                    .limit(InspectionStore.MOST_BEHIND)
                    .count(),
            head.attempts,
            head.error);
  }
}
