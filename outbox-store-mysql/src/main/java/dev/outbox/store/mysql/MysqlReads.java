package dev.outbox.store.mysql;

import static java.util.Objects.requireNonNull;

import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.core.internal.Database.Limits;
import dev.outbox.store.core.internal.Database.Look;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.Row;
import dev.outbox.store.jdbc.internal.MessageRows;
import dev.outbox.store.jdbc.internal.SqlReads;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;

/** Reads messages. */
final class MysqlReads extends SqlReads {
  /** Which of some buckets have blocked keys. */
  private static final String WITH_BLOCKED_KEYS =
      """
      select b.bucket from ${q}${p}bucket b force index (primary)
      where b.bucket in (${buckets}) and ${hasBlocked}
      """;

  /** The status that a PENDING or SCHEDULED message must move to, or null. */
  private static final String TARGET = "case when ${first} ${blocked} end";

  /** Left out for buckets that have no blocked keys: it makes the read half as slow again. */
  private static final String KEY_BLOCKED =
      """
      when (select 1 from ${q}${p}blocked_key k
        where k.bucket = ${bucket} and k.`key` = ${messageKey}
        limit 1) is not null then 'BLOCKED'
      """;

  /** One bucket's part of a read; ${bucket}, ${most} and ${bytes} are numbers. */
  private static final String READ =
      """
      (select ${read}
      from ${q}${p}message m force index (primary)
      where m.bucket = ${bucket} and ${where}
      order by m.bucket, m.status, m.place, m.seq
      limit ${most})
      """;

  private static final String CONTENT =
      MessageRows.COLUMNS.replace(
              "m.payload",
              "case when ${target} is null and m.payload_size <= ${bytes} then m.payload end")
          + ", ${target} as target, null as horizon";

  private static final String SIZE =
      "m.bucket, case when ${target} is null then m.payload_size else 0 end as size";

  private static final String READ_PENDING = pending(CONTENT);
  private static final String SIZES_PENDING = pending(SIZE);
  private static final String READ_SCHEDULED = scheduled(CONTENT);
  private static final String SIZES_SCHEDULED = scheduled(SIZE);

  private static String pending(String what) {
    return READ.replace("${read}", what)
        .replace("${where}", "m.status = 'PENDING' and m.place = _binary''")
        .replace("${target}", TARGET)
        .replace("${first}", "m.available_at > utc_timestamp(6) then 'SCHEDULED'");
  }

  private static String scheduled(String what) {
    return READ.replace("${read}", what)
        .replace(
            "${where}", "m.status = 'SCHEDULED' and m.place <= cast(utc_timestamp(6) as char(26))")
        .replace("${target}", TARGET)
        .replace("${first}", "false then null");
  }

  private final BlockedMessages blockedMessages;
  private final MysqlLook look;
  private final Map<Status, String> reads;
  private final Map<Status, String> sizes;
  private final String withBlockedKeys;
  private final String keyBlocked;

  MysqlReads(MessageRows rows, MysqlText text, RelayLocks locks) {
    super(rows);
    look = new MysqlLook(this, rows, text, locks);
    blockedMessages = new BlockedMessages(text);
    reads =
        Map.of(
            Status.PENDING, text.fill(READ_PENDING), Status.SCHEDULED, text.fill(READ_SCHEDULED));
    sizes =
        Map.of(
            Status.PENDING, text.fill(SIZES_PENDING), Status.SCHEDULED, text.fill(SIZES_SCHEDULED));
    withBlockedKeys = text.fill(WITH_BLOCKED_KEYS);
    keyBlocked = text.fill(KEY_BLOCKED);
  }

  @Override
  protected <R> R select(Handle handle, Wanted wanted, long bytes, Reader<R> reader) {
    return reader.readAll(read(handle, reads, wanted, bytes));
  }

  @Override
  protected <R> R sizes(Handle handle, Wanted wanted, Reader<R> reader) {
    return reader.readAll(read(handle, sizes, wanted, 0));
  }

  /**
   * Whether a bucket has blocked keys is asked before, not in the statement that locked it: that
   * one may have begun before the last holder's settle was committed.
   */
  private Query read(Handle handle, Map<Status, String> texts, Wanted wanted, long bytes) {
    String buckets = MysqlText.join(wanted.leases(), ", ", Lease::bucket);
    Set<Integer> some =
        UnparsedSql.query(handle, withBlockedKeys.replace("${buckets}", buckets))
            .mapTo(Integer.class)
            .set();
    return UnparsedSql.query(handle, parts(texts, wanted, some, bytes));
  }

  /**
   * @param some the buckets that have blocked keys
   */
  private String parts(Map<Status, String> texts, Wanted wanted, Set<Integer> some, long bytes) {
    String sql = requireNonNull(texts.get(wanted.status()));
    return MysqlText.join(
        wanted.leases(),
        " union all ",
        lease ->
            sql.replace("${blocked}", some.contains(lease.bucket()) ? keyBlocked : "")
                .replace("${bucket}", Integer.toString(lease.bucket()))
                .replace("${most}", Integer.toString(wanted.most().applyAsInt(lease)))
                .replace("${bytes}", Long.toString(bytes)));
  }

  /** Of buckets that are held, the part of a look that reads the first PENDING messages. */
  String pending(List<Lease> leases, Set<Integer> some, Limits limits) {
    Wanted wanted = new Wanted(Status.PENDING, leases, lease -> limits.messages());
    return parts(reads, wanted, some, limits.bytes() / limits.messages());
  }

  @Override
  public Optional<Look> look(
      Handle handle, UUID claimId, List<Lease> leases, Limits limits, Set<Long> durable) {
    return Optional.of(look.at(handle, claimId, leases, limits));
  }

  @Override
  public List<Row> readBlocked(Handle handle, List<Lease> leases, Limits limits) {
    return blockedMessages.read(handle, leases, limits, rows);
  }
}
