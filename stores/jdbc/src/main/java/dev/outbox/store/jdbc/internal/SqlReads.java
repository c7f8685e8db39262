package dev.outbox.store.jdbc.internal;

import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.core.internal.Database.Limits;
import dev.outbox.store.core.internal.Database.Pending;
import dev.outbox.store.core.internal.Database.Reads;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.ReadBudget;
import dev.outbox.store.core.internal.Row;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToIntFunction;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;

/** Reads messages by statements that have the same form on all databases. */
public abstract class SqlReads implements Reads<Handle> {
  protected final MessageRows rows;

  protected SqlReads(MessageRows rows) {
    this.rows = rows;
  }

  /** Reads the rows of a query, in their order. */
  public interface Reader<R> {
    R read(ResultSet rows) throws SQLException;

    /** Runs the query and reads what it gives. */
    default R readAll(Query query) {
      return query.scanResultSet((rows, context) -> read(rows.get()));
    }
  }

  /**
   * Reads the first PENDING or SCHEDULED messages of each bucket, which may come in any order. A
   * row has {@link MessageRows#COLUMNS}, target (the status to move to, or null) and horizon (a
   * number that says something of the snapshot, or null). For a bucket without messages it has the
   * horizon only. Of a message to be moved, and of one whose payload has more bytes, the payload
   * comes as null.
   *
   * @param bytes the most bytes of a payload
   */
  protected abstract <R> R select(Handle handle, Wanted wanted, long bytes, Reader<R> reader);

  /**
   * The same, in order, as bucket and size: the bytes of the payload, or 0 of a message to be
   * moved.
   */
  protected abstract <R> R sizes(Handle handle, Wanted wanted, Reader<R> reader);

  /**
   * What a read is to bring.
   *
   * @param status PENDING or SCHEDULED
   * @param leases of the buckets
   * @param most how many messages of each
   */
  public record Wanted(Status status, List<Lease> leases, ToIntFunction<Lease> most) {}

  /**
   * What a read found.
   *
   * @param most how many messages of a bucket it had room for
   * @param horizon what it says of its snapshot
   */
  protected record Found(List<Row> rows, ToIntFunction<Lease> most, long horizon) {}

  @Override
  public Pending readPending(Handle handle, List<Lease> leases, Limits limits) {
    return new Pending(read(handle, Status.PENDING, leases, limits).rows(), leases);
  }

  @Override
  public final List<Row> readScheduled(Handle handle, List<Lease> leases, Limits limits) {
    return read(handle, Status.SCHEDULED, leases, limits).rows();
  }

  /** How many messages of a bucket a read may bring. */
  protected static ToIntFunction<Lease> most(Limits limits) {
    return lease -> lease.single() ? 1 : limits.messages();
  }

  /**
   * Reads twice where a payload is larger than its share of the bytes, which is rare. The second
   * read brings as many messages of each bucket as the bytes have room for, and at least one.
   */
  protected final Found read(Handle handle, Status status, List<Lease> leases, Limits limits) {
    Wanted wanted = new Wanted(status, leases, most(limits));
    long share = limits.bytes() / limits.messages();
    return readOnce(handle, wanted, share)
        .or(
            () -> {
              Map<Integer, Integer> fit = fit(handle, wanted, limits);
              ToIntFunction<Lease> most = lease -> fit.getOrDefault(lease.bucket(), 1);
              return readOnce(handle, new Wanted(status, leases, most), Long.MAX_VALUE);
            })
        .orElseThrow();
  }

  /** How many messages of each bucket there is room for. */
  private Map<Integer, Integer> fit(Handle handle, Wanted wanted, Limits limits) {
    ReadBudget room = new ReadBudget(wanted.leases(), limits);
    Map<Integer, Integer> messages = new HashMap<>();
    return sizes(
        handle,
        wanted,
        row -> {
          while (row.next()) {
            int bucket = row.getInt("bucket");
            if (room.take(bucket, row.getInt("size"))) {
              messages.merge(bucket, 1, Integer::sum);
            }
          }
          return messages;
        });
  }

  /** Reads once; empty when a payload was larger than the bytes and left out. */
  private Optional<Found> readOnce(Handle handle, Wanted wanted, long bytes) {
    return select(
        handle,
        wanted,
        bytes,
        row -> {
          List<PlacedRow> found = new ArrayList<>();
          long horizon = 0;
          while (row.next()) {
            horizon = row.getLong(MessageRows.HORIZON);
            if (MessageRows.isMessage(row)) {
              Row message = rows.row(row, wanted.status());
              if (message == null) {
                return Optional.empty();
              }
              Instant due = rows.due(row, wanted.status());
              found.add(new PlacedRow(message, due, message.sequence()));
            }
          }
          return Optional.of(new Found(PlacedRow.inOrder(found), wanted.most(), horizon));
        });
  }
}
