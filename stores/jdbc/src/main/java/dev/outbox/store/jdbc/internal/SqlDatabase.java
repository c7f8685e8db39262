package dev.outbox.store.jdbc.internal;

import dev.outbox.Archive;
import dev.outbox.store.core.internal.Database.Block;
import dev.outbox.store.core.internal.Database.Failure;
import dev.outbox.store.core.internal.Database.Key;
import dev.outbox.store.core.internal.Database.Limits;
import dev.outbox.store.core.internal.Database.Look;
import dev.outbox.store.core.internal.Database.Pending;
import dev.outbox.store.core.internal.Database.Reads;
import dev.outbox.store.core.internal.Database.Writes;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.Room;
import dev.outbox.store.core.internal.Row;
import dev.outbox.store.core.internal.Row.Claimable;
import dev.outbox.store.core.internal.Row.OfMessage;
import dev.outbox.store.core.internal.Row.ToMove;
import dev.outbox.store.core.internal.Status;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes messages by the statements that all databases have in the same form, of which
 * the {@link SqlDialect} has the texts.
 */
final class SqlDatabase implements Reads<Handle>, Writes<Handle> {
  private static final DateTimeFormatter MICROSECONDS =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS");

  private final SqlDialect dialect;
  private final Rows rows;

  SqlDatabase(SqlDialect dialect) {
    this.dialect = dialect;
    rows = new Rows(dialect);
  }

  // ---- reads

  /** What a read found, how much it had room for, and what it says of its snapshot. */
  private record Found(List<Row> rows, ToIntFunction<Lease> most, long horizon) {}

  @Override
  public Pending readPending(Handle handle, List<Lease> leases, Limits limits) {
    Found[] read = new Found[1]; // stays null where the dialect knows that there is nothing to read
    List<Row> rows =
        dialect.readPending(
            handle,
            leases,
            limits,
            () -> {
              read[0] = read(handle, Status.PENDING, leases, limits);
              return read[0].rows();
            });
    return new Pending(
        rows,
        read[0] == null
            ? leases
            : dialect.afterRead(leases, rows, read[0].most(), read[0].horizon()));
  }

  @Override
  public Look look(Handle handle, UUID claimId, List<Lease> leases, Limits limits) {
    return dialect.look(handle, claimId, leases, limits);
  }

  @Override
  public List<Row> readScheduled(Handle handle, List<Lease> leases, Limits limits) {
    return read(handle, Status.SCHEDULED, leases, limits).rows();
  }

  @Override
  public List<Row> readBlocked(Handle handle, List<Lease> leases, Limits limits) {
    return dialect.readBlocked(handle, leases, limits);
  }

  /**
   * Without payloads larger than their share, and mostly there are none. Where there are, as many
   * messages of each bucket as the bytes have room for: at least one.
   */
  private Found read(Handle handle, Status status, List<Lease> leases, Limits limits) {
    ToIntFunction<Lease> most = lease -> lease.single() ? 1 : limits.messages();
    long share = limits.bytes() / limits.messages();
    return read(handle, status, leases, most, share)
        .or(
            () -> {
              Map<Integer, Integer> fit = fit(handle, status, leases, most, limits);
              return read(
                  handle,
                  status,
                  leases,
                  lease -> fit.getOrDefault(lease.bucket(), 1),
                  Long.MAX_VALUE);
            })
        .orElseThrow();
  }

  /** For how many messages of each bucket there is room. */
  private Map<Integer, Integer> fit(
      Handle handle, Status status, List<Lease> leases, ToIntFunction<Lease> most, Limits limits) {
    Room room = new Room(leases, limits);
    Map<Integer, Integer> messages = new HashMap<>();
    return dialect.sizes(
        handle,
        status,
        leases,
        most,
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

  /** Empty when a payload was left out. */
  private Optional<Found> read(
      Handle handle, Status status, List<Lease> leases, ToIntFunction<Lease> most, long bytes) {
    return dialect.read(
        handle,
        status,
        leases,
        most,
        bytes,
        row -> {
          List<Placed> found = new ArrayList<>();
          long horizon = 0;
          while (row.next()) {
            horizon = row.getLong(Rows.HORIZON);
            if (Rows.isMessage(row)) {
              Row message = rows.row(row, status);
              if (message == null) {
                return Optional.empty();
              }
              found.add(new Placed(message, rows.due(row, status), message.sequence()));
            }
          }
          return Optional.of(new Found(Placed.inOrder(found), most, horizon));
        });
  }

  // ---- writes

  @Override
  public boolean archives() {
    return dialect.archive() != Archive.NONE;
  }

  @Override
  public void move(Handle handle, Collection<ToMove> moves) {
    forRows(handle, dialect.moveToBlocked(), to(Status.BLOCKED, moves), Map.of());
    forRows(handle, dialect.moveToScheduled(), to(Status.SCHEDULED, moves), Map.of());
  }

  private static List<ToMove> to(Status target, Collection<ToMove> moves) {
    return moves.stream().filter(move -> move.target() == target).toList();
  }

  @Override
  public void count(Handle handle, Collection<Claimable> messages, int by) {
    forRows(handle, dialect.count(), messages, Map.of("by", by));
  }

  @Override
  public List<Lease> delete(
      Handle handle, Collection<Lease> leases, Collection<Claimable> delivered) {
    return dialect.delete(handle, leases, delivered);
  }

  private void forRows(
      Handle handle, String sql, Collection<? extends OfMessage> messages, Map<String, ?> more) {
    if (!messages.isEmpty()) {
      int ignored = dialect.forRows(handle, sql, messages, more);
    }
  }

  @Override
  public Set<Long> fail(Handle handle, List<Failure> failures) {
    return Batches.changed(
            handle,
            dialect.fail(),
            failures,
            (batch, failure) ->
                dialect.bindMore(
                    batch
                        .bind("bucket", failure.row().bucket())
                        .bind("seq", failure.row().sequence())
                        .bind("id", failure.row().id())
                        .bind("availableAt", text(failure.row().availableAt()))
                        .bind("attempts", failure.attempts())
                        .bind("attemptsAfter", failure.attemptsAfter())
                        .bind("status", failure.status().name())
                        .bind("error", failure.error()),
                    failure))
        .stream()
        .map(failure -> failure.row().sequence())
        .collect(Collectors.toSet());
  }

  /** In UTC, without saying so: to the microsecond, as databases have it. */
  static @Nullable String text(@Nullable Instant time) {
    return time == null ? null : MICROSECONDS.format(Rows.clamp(time).atOffset(ZoneOffset.UTC));
  }

  @Override
  public void block(Handle handle, List<Block> blocks) {
    dialect.block(handle, blocks);
  }

  @Override
  public void lower(Handle handle, List<Key> keys) {
    Batches.forKeys(handle, dialect.lower(), keys);
  }

  @Override
  public void advance(Handle handle, Collection<Key> keys) {
    dialect.advance(handle, keys);
  }
}
