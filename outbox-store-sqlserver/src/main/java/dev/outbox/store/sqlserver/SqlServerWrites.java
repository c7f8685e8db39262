package dev.outbox.store.sqlserver;

import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.core.internal.Database.Block;
import dev.outbox.store.core.internal.Database.Failure;
import dev.outbox.store.core.internal.Database.Key;
import dev.outbox.store.core.internal.Row.OfMessage;
import dev.outbox.store.jdbc.internal.JdbcBatches;
import dev.outbox.store.jdbc.internal.ListWrites;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.PreparedBatch;
import org.jspecify.annotations.Nullable;

/** Writes messages. */
final class SqlServerWrites extends ListWrites {

  /**
   * Statements for messages of one status and place. Each is found by a seek with the whole
   * clustered key, or else its statement would lock, to look at them, rows that it does not change,
   * and wait for producers that have not committed theirs. FORCESEEK "can be specified [...] in the
   * FROM clause of an UPDATE or DELETE statement". The list comes first (FORCE ORDER), and each of
   * its rows is looked up by itself (LOOP JOIN). The key begins with the bucket, which only the
   * list tells, so nothing can be looked up without it. What must be true of a row is asked of the
   * row that is changed.
   */
  private static final String THESE =
      """
        from openjson(:messages)
          with (bucket int '$[0]', seq bigint '$[1]', id uniqueidentifier '$[2]') l
        inner join ${q}${p}message m with (forceseek) on m.bucket = l.bucket and m.seq = l.seq
        where m.status = :was and m.place = :place and m.id = l.id ${and}
        option (loop join, force order)
        """;

  private static final String MOVE_TO_BLOCKED =
      "update m set status = N'BLOCKED' "
          + THESE.replace("${and}", "and m.status in (N'PENDING', N'SCHEDULED')");

  private static final String MOVE_TO_SCHEDULED =
      "update m set status = N'SCHEDULED' " + THESE.replace("${and}", "and m.status = N'PENDING'");

  private static final String COUNT =
      """
      update m set attempts = case
        when :by < 0 and m.attempts = 0 then 0
        when :by > 0 and m.attempts = 2147483647 then m.attempts
        else m.attempts + :by end
      """
          + THESE.replace("${and}", "and m.status <> N'DEAD'");

  private static final String DELETE = "delete m " + THESE.replace("${and}", "");

  private static final String FAIL =
      """
      update ${q}${p}message set
        status = :status, attempts = :attemptsAfter, last_error = :error,
        last_failed_at = sysutcdatetime()
      where bucket = :bucket and status = :was and place = :place and seq = :seq
        and id = :id and attempts = :attempts and status <> N'DEAD'
        and (available_at = convert(datetime2(6), :availableAt, 126)
          or available_at is null and :availableAt is null)
      """;

  private static final String BLOCK =
      """
      update ${q}${p}blocked_key set
        retry_at = ${later},
        halted_by = case when :halted = 1 then :seq else halted_by end,
        low_seq = case when low_seq < :lowSeq then low_seq else :lowSeq end
      where bucket = :bucket and key_hash = ${key}
      """
          .replace("${later}", SqlServerText.later(":delayMillis"));

  private static final String INSERT_BLOCKED =
      """
      insert into ${q}${p}blocked_key (bucket, message_key, retry_at, halted_by, low_seq)
      values (:bucket, :key, ${later}, case when :halted = 1 then :seq end, :lowSeq)
      """
          .replace("${later}", SqlServerText.later(":delayMillis"));

  private static final String LOWER =
      """
      update ${q}${p}blocked_key set low_seq = :seq
      where bucket = :bucket and key_hash = ${key} and low_seq > :seq
      """;

  private static final String WAITING =
      """
        ${q}${p}message m ${seekNow}
        where m.bucket = k.bucket and m.status = N'BLOCKED' and m.place = k.key_hash
          and m.seq >= k.low_seq
        """;

  private static final String ADVANCE =
      """
      update k set
        retry_at = sysutcdatetime(),
        low_seq = coalesce((select min(m.seq) from ${waiting}), k.low_seq)
      from ${q}${p}blocked_key k
      where k.bucket = :bucket and k.key_hash = ${key} and k.halted_by is null
      """
          .replace("${waiting}", WAITING);

  private static final String FREE =
      """
      delete k from ${q}${p}blocked_key k
      where k.bucket = :bucket and k.key_hash = ${key} and k.halted_by is null
        and not exists (select 1 from ${waiting})
      """
          .replace("${waiting}", WAITING);

  SqlServerWrites(SqlServerArchive archive) {
    super(
        new Texts(MOVE_TO_BLOCKED, MOVE_TO_SCHEDULED, COUNT, FAIL, LOWER),
        DELETE,
        archive.copy(),
        archive.keepsArchive());
  }

  /**
   * Where in its bucket a row stands.
   *
   * @param key of BLOCKED messages
   */
  private record Place(Status status, @Nullable String key) {
    static Place of(OfMessage row) {
      return new Place(row.status(), row.status() == Status.BLOCKED ? row.key() : null);
    }

    byte[] bytes() {
      return key == null ? new byte[1] : SqlServerText.keyHash(key);
    }
  }

  /** One statement a place, in one batch. */
  @Override
  protected <R extends OfMessage> int forRows(
      Handle handle,
      String sql,
      Collection<R> rows,
      Function<R, List<?>> columns,
      Map<String, ?> more) {
    Map<Place, List<R>> places =
        rows.stream()
            .collect(Collectors.groupingBy(Place::of, LinkedHashMap::new, Collectors.toList()));
    int[] changed =
        JdbcBatches.run(
            handle,
            sql,
            places.entrySet(),
            (batch, place) ->
                batch
                    .bind("was", place.getKey().status().name())
                    .bind("place", place.getKey().bytes())
                    .bind("messages", SqlServerText.list(place.getValue(), columns))
                    .bindMap(more));
    return Arrays.stream(changed).sum();
  }

  @Override
  protected void bind(PreparedBatch batch, Failure failure) {
    super.bind(batch, failure);
    batch.bind("was", failure.row().status().name()).bind("place", Place.of(failure.row()).bytes());
  }

  /** Only the holder of the bucket adds keys, so what was not there to change can be inserted. */
  @Override
  public void block(Handle handle, List<Block> blocks) {
    List<Block> added = new ArrayList<>(blocks);
    added.removeAll(JdbcBatches.changed(handle, BLOCK, blocks, JdbcBatches::bind));
    int[] ignored = JdbcBatches.run(handle, INSERT_BLOCKED, added, JdbcBatches::bind);
  }

  @Override
  public void advance(Handle handle, Collection<Key> keys) {
    JdbcBatches.forKeys(handle, FREE, keys);
    JdbcBatches.forKeys(handle, ADVANCE, keys);
  }
}
