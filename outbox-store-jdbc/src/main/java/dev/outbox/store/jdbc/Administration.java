package dev.outbox.store.jdbc;

import static java.util.Objects.requireNonNull;

import dev.outbox.spi.DeadLetterStore.DeadLetter;
import dev.outbox.spi.LeaseStore.RelayLease;
import dev.outbox.spi.StatisticsStore.Statistics;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * What is not asked by claims: the schema's version, dead letters, statistics, and what
 * housekeeping puts right.
 */
abstract class Administration implements Dialect, Rows.Types {
  private final Map<Sql, String> statements;
  protected final Rows rows = new Rows(this);

  Administration(Map<Sql, String> statements) {
    this.statements = new EnumMap<>(statements);
    for (Sql sql : Sql.values()) {
      if (!statements.containsKey(sql)) {
        throw new IllegalArgumentException("there is no statement for " + sql);
      }
    }
  }

  protected final String text(Sql sql) {
    return requireNonNull(statements.get(sql));
  }

  @Override
  public UUID uuid(ResultSet rows, int column) throws SQLException {
    String id = rows.getString(column);
    try {
      return UUID.fromString(id);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("id is not a UUID: " + id, e);
    }
  }

  /** Of a time without zone. */
  @Override
  public @Nullable Instant instant(ResultSet rows, int column) throws SQLException {
    LocalDateTime time = rows.getObject(column, LocalDateTime.class);
    return time == null ? null : time.toInstant(ZoneOffset.UTC);
  }

  @Override
  public int schemaVersion(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(text(Sql.SCHEMA_VERSION));
        ResultSet rows = statement.executeQuery()) {
      return rows.next() ? rows.getInt("version") : 0;
    }
  }

  @Override
  public List<DeadLetter> deadLetters(Handle handle, long afterSequence, int limit) {
    return handle
        .createQuery(text(Sql.DEAD_LETTERS))
        .bind("after", afterSequence)
        .bind("limit", limit)
        .map(
            (row, context) ->
                new DeadLetter(
                    rows.message(row),
                    row.getString("last_error"),
                    instant(row, row.findColumn("last_failed_at"))))
        .list();
  }

  private @Nullable Key lockDeadLetter(Handle handle, long sequence) {
    return handle
        .createQuery(text(Sql.LOCK_DEAD_LETTER))
        .bind("seq", sequence)
        .map((row, context) -> new Key(row.getInt("bucket"), row.getString("key"), sequence))
        .findOne()
        .orElse(null);
  }

  private boolean unhalt(Handle handle, Key key, long lowSeq) {
    return handle
            .createUpdate(text(Sql.UNHALT))
            .bind("bucket", key.bucket())
            .bind("key", key.key())
            .bind("seq", key.sequence())
            .bind("lowSeq", lowSeq)
            .execute()
        > 0;
  }

  @Override
  public void freeHaltedByNothing(Handle handle) {
    handle
        .createQuery(text(Sql.HALTED_BY_NOTHING))
        .map(
            (row, context) ->
                new Key(row.getInt("bucket"), row.getString("key"), row.getLong("halted_by")))
        .list()
        .forEach(key -> unhalt(handle, key, Long.MAX_VALUE));
  }

  @Override
  public boolean requeue(Handle handle, long sequence) {
    Key dead = lockDeadLetter(handle, sequence);
    if (dead == null) {
      return false;
    }
    boolean unhalted = unhalt(handle, dead, sequence);
    handle
        .createUpdate(text(Sql.REQUEUE))
        .bind("bucket", dead.bucket())
        .bind("seq", sequence)
        .bind("unhalted", unhalted)
        .execute();
    return true;
  }

  @Override
  public boolean discard(Handle handle, long sequence) {
    Key dead = lockDeadLetter(handle, sequence);
    if (dead == null) {
      return false;
    }
    unhalt(handle, dead, Long.MAX_VALUE);
    handle
        .createUpdate(text(Sql.DISCARD))
        .bind("bucket", dead.bucket())
        .bind("seq", sequence)
        .execute();
    return true;
  }

  @Override
  public Statistics statistics(Handle handle) {
    return handle
        .createQuery(text(Sql.STATISTICS))
        .map(
            (row, context) ->
                new Statistics(
                    row.getLong("pending"),
                    row.getLong("scheduled"),
                    row.getLong("blocked"),
                    row.getLong("dead"),
                    row.getLong("blocked_keys"),
                    row.getLong("halted_keys"),
                    row.getObject("oldest_millis") == null
                        ? null
                        : Duration.ofMillis(row.getLong("oldest_millis"))))
        .one();
  }

  @Override
  public List<RelayLease> leases(Handle handle) {
    return handle
        .createQuery(text(Sql.LEASES))
        .map(
            (row, context) ->
                new RelayLease(
                    row.getString("relay"),
                    row.getInt("buckets"),
                    requireNonNull(instant(row, row.findColumn("leased_at"))),
                    requireNonNull(instant(row, row.findColumn("lease_until")))))
        .list();
  }

  @Override
  public boolean restore(Handle handle) {
    return handle.createUpdate(text(Sql.RESTORE_BUCKETS)).execute() > 0;
  }

  @Override
  public void restoreBlockedKeys(Handle handle, List<Integer> buckets) {
    for (int bucket : buckets) {
      handle.createUpdate(text(Sql.RESTORE_BLOCKED_KEYS)).bind("bucket", bucket).execute();
    }
  }

  /** Nothing to forget where the database has no marks. */
  @Override
  public void forgetMark(Handle handle, int bucket) {}

  /** Nothing to do where the database keeps its sequence ahead of the messages by itself. */
  @Override
  public void catchUpSequence(Handle handle) {}
}
