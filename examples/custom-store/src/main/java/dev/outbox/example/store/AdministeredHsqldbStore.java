package dev.outbox.example.store;

import dev.outbox.Archive;
import dev.outbox.SchemaException;
import dev.outbox.spi.store.ArchiveStore;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.spi.store.StatisticsStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jdbi.v3.core.result.RowView;
import org.jspecify.annotations.Nullable;

/** The store with what operators ask of it; each ability is an interface, and none is a must. */
final class AdministeredHsqldbStore extends HsqldbOutboxStore
    implements SchemaStore, StatisticsStore, DeadLetterStore {

  AdministeredHsqldbStore(DataSource dataSource) {
    super(dataSource);
  }

  private boolean isThere() {
    String tables =
        "select count(*) from information_schema.tables where table_name = 'OUTBOX_MESSAGE'";
    return jdbi.withHandle(handle -> handle.select(tables).mapTo(Integer.class).one()) > 0;
  }

  @Override
  public void migrate() {
    if (!isThere()) {
      super.migrate();
    }
  }

  @Override
  public String ddl() {
    return DDL;
  }

  @Override
  public void verify() {
    if (!isThere()) {
      throw new SchemaException("the tables outbox_* are missing: run outbox migrate");
    }
  }

  @Override
  public String place() {
    return "schema PUBLIC";
  }

  @Override
  public Statistics statistics(int cap) {
    int most = StatisticsStore.checked(cap);
    String counts =
        """
        select current_timestamp(6) as time,
          count(case when not dead and coalesce(retry_at, available_at) is null
            or coalesce(retry_at, available_at) <= current_timestamp(6) then 1 end) as pending,
          count(case when not dead and retry_at is null
            and available_at > current_timestamp(6) then 1 end) as scheduled,
          count(case when not dead and retry_at > current_timestamp(6) then 1 end) as blocked,
          count(case when dead then 1 end) as dead,
          count(distinct case when not dead and retry_at > current_timestamp(6)
            then message_key end) as blocked_keys,
          count(distinct case when dead and blocks_key then message_key end) as halted_keys,
          min(case when not dead and coalesce(retry_at, available_at) is null
            then created_at end) as oldest_free,
          min(case when not dead and retry_at > current_timestamp(6) then created_at end)
            as oldest_blocked
        from outbox_message
        """;
    return jdbi.withHandle(
        handle ->
            handle
                .select(counts)
                .map(
                    row -> {
                      ToLongFunction<String> number =
                          name -> Math.min(most, row.getColumn(name, Long.class));
                      return new Statistics(
                          cap,
                          number.applyAsLong("pending"),
                          number.applyAsLong("scheduled"),
                          number.applyAsLong("blocked"),
                          number.applyAsLong("dead"),
                          number.applyAsLong("blocked_keys"),
                          number.applyAsLong("halted_keys"),
                          age(row, "oldest_free"),
                          age(row, "oldest_blocked"),
                          null);
                    })
                .one());
  }

  private static @Nullable Duration age(RowView row, String column) {
    Instant since = row.getColumn(column, Instant.class);
    return since == null ? null : Duration.between(since, row.getColumn("time", Instant.class));
  }

  @Override
  public List<DeadLetter> deadLetters(long afterSequence, int limit) {
    String letters = "select * from outbox_message where dead and seq > ? order by seq limit ?";
    return jdbi.withHandle(
        handle ->
            handle
                .select(letters, afterSequence, limit)
                .map(
                    row ->
                        new DeadLetter(
                            decode(row),
                            row.getColumn("last_error", String.class),
                            null,
                            row.getColumn("blocks_key", Boolean.class)))
                .list());
  }

  @Override
  public Set<Long> requeue(Set<Long> sequences, @Nullable Who by) {
    ArchiveStore.requireAudit(by, Archive.NONE);
    return change(
        "update outbox_message set dead = false, attempts = 0 where seq = ? and dead", sequences);
  }

  @Override
  public Set<Long> discard(Set<Long> sequences, @Nullable Who by) {
    ArchiveStore.requireAudit(by, Archive.NONE);
    return change("delete from outbox_message where seq = ? and dead", sequences);
  }

  private Set<Long> change(String sql, Set<Long> sequences) {
    return jdbi.inTransaction(
        handle ->
            sequences.stream()
                .filter(sequence -> handle.execute(sql, sequence) > 0)
                .collect(Collectors.toSet()));
  }
}
