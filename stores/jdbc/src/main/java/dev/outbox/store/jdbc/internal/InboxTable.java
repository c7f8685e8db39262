package dev.outbox.store.jdbc.internal;

import dev.outbox.inbox.Fingerprint;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.spi.store.InboxStore.InboxStatistics;
import dev.outbox.store.core.internal.InboxTaking;
import dev.outbox.store.core.internal.InboxTaking.State;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The table of an inbox. Runs on any connection, the caller's or one of the store's own. */
public final class InboxTable {

  /** So many are purged at once. */
  public static final int PURGE = 1_000;

  /**
   * What is known of a key.
   *
   * @param token whose the lock is or was; null: it was recorded
   * @param left of the lock; what is not positive is over
   */
  public record Entry(
      State state,
      @Nullable String token,
      Fingerprint fingerprint,
      int attempts,
      Duration left,
      InboxResult result)
      implements InboxTaking.Known {

    public boolean is(State other, String ofToken) {
      return state == other && ofToken.equals(token);
    }
  }

  /**
   * What an entry becomes.
   *
   * @param lock null: there is none
   * @param more attempts
   * @param result null: there is none
   * @param error null: the last one stays
   * @param expiresIn after this it may be forgotten
   */
  public record Change(
      State state,
      @Nullable String token,
      @Nullable Duration lock,
      int more,
      Fingerprint fingerprint,
      @Nullable InboxResult result,
      @Nullable String error,
      Duration expiresIn) {

    /** What a consumer's transaction records. */
    public static Change recorded(Duration retention) {
      return new Change(State.DONE, null, null, 1, Fingerprint.none(), null, null, retention);
    }

    public static Change started(
        String token, Duration lock, Fingerprint fingerprint, Duration retention) {
      return new Change(
          State.STARTED, token, lock, 1, fingerprint, null, null, lock.plus(retention));
    }

    public static Change renewed(String token, Duration lock, Duration retention) {
      return new Change(
          State.STARTED, token, lock, 0, Fingerprint.none(), null, null, lock.plus(retention));
    }

    public static Change completed(String token, InboxResult result, Duration retention) {
      return new Change(State.DONE, token, null, 0, Fingerprint.none(), result, null, retention);
    }

    public static Change released(String token, String error, Duration retention) {
      return new Change(
          State.FAILED, token, Duration.ZERO, 0, Fingerprint.none(), null, error, retention);
    }
  }

  private final Server server;
  private final String insert;
  private final String find;
  private final String update;
  private final String takeOver;
  private final String expired;
  private final String delete;
  private final String statistics;

  public InboxTable(Server server, InboxTexts texts) {
    this.server = server;
    insert = server.fill(texts.insert());
    find = server.fill(texts.find());
    update = server.fill(texts.update());
    takeOver = server.fill(texts.update() + " and " + texts.lockIsOver());
    expired = server.fill(texts.expired());
    delete = server.fill(texts.delete());
    statistics = server.fill(texts.statistics());
  }

  /** False when the key is there already. */
  public boolean insert(Connection connection, InboxKey key, Change to) throws SQLException {
    try (PreparedStatement statement = server.prepare(connection, insert)) {
      server.setText(statement, 1, key.consumer());
      server.setText(statement, 2, key.messageId());
      server.setText(statement, 3, to.state().name());
      server.setText(statement, 4, to.token());
      setMillis(statement, 5, to.lock());
      setFingerprint(statement, 6, to.fingerprint());
      setMillis(statement, 7, to.expiresIn());
      return statement.executeUpdate() == 1;
    }
  }

  public @Nullable Entry find(Connection connection, InboxKey key) throws SQLException {
    try (PreparedStatement statement = server.prepare(connection, find)) {
      server.setText(statement, 1, key.consumer());
      server.setText(statement, 2, key.messageId());
      try (ResultSet row = statement.executeQuery()) {
        return row.next() ? entry(row) : null;
      }
    }
  }

  private static Entry entry(ResultSet row) throws SQLException {
    byte[] fingerprint = row.getBytes("fingerprint");
    byte[] result = row.getBytes("result");
    return new Entry(
        State.valueOf(row.getString("state")),
        row.getString("token"),
        fingerprint == null ? Fingerprint.none() : Fingerprint.ofHash(fingerprint),
        row.getInt("attempts"),
        Duration.of(row.getLong("left_micros"), ChronoUnit.MICROS),
        result == null
            ? InboxResult.none()
            : InboxResult.of(result, row.getString("content_type")));
  }

  /** Changes an entry that has just been found, unless somebody else did meanwhile. */
  public boolean takeOver(Connection connection, InboxKey key, Entry found, Change to)
      throws SQLException {
    return update(
        connection,
        takeOver,
        key,
        Objects.requireNonNull(found.token(), "what is not done has a token"),
        found.state(),
        to);
  }

  /** Changes the entry of a lock; false when that is not started any more, or another's. */
  public boolean change(Connection connection, InboxKey key, String token, Change to)
      throws SQLException {
    return update(connection, update, key, token, State.STARTED, to);
  }

  private boolean update(
      Connection connection, String sql, InboxKey key, String token, State from, Change to)
      throws SQLException {
    try (PreparedStatement statement = server.prepare(connection, sql)) {
      server.setText(statement, 1, to.state().name());
      server.setText(statement, 2, to.token());
      setMillis(statement, 3, to.lock());
      statement.setInt(4, to.more());
      setFingerprint(statement, 5, to.fingerprint());
      server.setText(statement, 6, to.result() == null ? null : to.result().contentType());
      statement.setBytes(7, to.result() == null ? null : to.result().content());
      server.setText(statement, 8, to.error());
      setMillis(statement, 9, to.expiresIn());
      server.setText(statement, 10, key.consumer());
      server.setText(statement, 11, key.messageId());
      server.setText(statement, 12, token);
      server.setText(statement, 13, from.name());
      return statement.executeUpdate() == 1;
    }
  }

  /** How many were purged, {@link #PURGE} at most. */
  public int purge(Connection connection) throws SQLException {
    int purged = 0;
    try (PreparedStatement statement = server.prepare(connection, expired);
        PreparedStatement deletes = server.prepare(connection, delete)) {
      statement.setInt(1, PURGE);
      try (ResultSet row = statement.executeQuery()) {
        for (; row.next(); purged++) {
          server.setText(deletes, 1, row.getString(1));
          server.setText(deletes, 2, row.getString(2));
          deletes.addBatch();
        }
      }
      int[] ignored = deletes.executeBatch();
    }
    return purged;
  }

  public InboxStatistics statistics(Connection connection, int cap) throws SQLException {
    try (PreparedStatement statement = server.prepare(connection, statistics)) {
      for (int i = 1; i <= 3; i++) {
        statement.setInt(i, cap);
      }
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        return new InboxStatistics(
            cap, row.getLong("in_progress"), row.getLong("expired_locks"), row.getLong("failed"));
      }
    }
  }

  private static void setMillis(PreparedStatement statement, int i, @Nullable Duration duration)
      throws SQLException {
    if (duration == null) {
      statement.setNull(i, Types.BIGINT);
    } else {
      statement.setLong(i, duration.toMillis());
    }
  }

  private static void setFingerprint(PreparedStatement statement, int i, Fingerprint fingerprint)
      throws SQLException {
    byte[] bytes = fingerprint.bytes();
    statement.setBytes(i, bytes.length == 0 ? null : bytes);
  }
}
