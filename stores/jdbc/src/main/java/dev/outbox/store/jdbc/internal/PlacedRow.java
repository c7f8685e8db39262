package dev.outbox.store.jdbc.internal;

import dev.outbox.store.core.internal.Row;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A row that was read, and its place in its bucket. The order is made here, because a server that
 * sorts rows carries their payloads along.
 *
 * @param due when a SCHEDULED message was due; null for others
 * @param turn the order of rows that were due at the same time
 */
public record PlacedRow(Row row, @Nullable Instant due, long turn) {
  private static final Comparator<PlacedRow> ORDER =
      Comparator.<PlacedRow>comparingInt(placed -> placed.row().bucket())
          .thenComparing(PlacedRow::due, Comparator.nullsFirst(Comparator.naturalOrder()))
          .thenComparingLong(PlacedRow::turn);

  public static List<Row> inOrder(List<PlacedRow> rows) {
    return rows.stream().sorted(ORDER).map(PlacedRow::row).toList();
  }
}
