package dev.outbox.gallery;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StoredMessage;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import javax.sql.DataSource;

/**
 * Stores as they are written in a hurry: each is {@link PlainStore} with one typical mistake. What
 * the suite says to them stands in {@code docs/tck.md}.
 */
final class WrongStores {
  private WrongStores() {}

  /**
   * Reads what is due from the messages themselves, key by key, those claimed longest ago first.
   */
  abstract static class WithoutQueue extends PlainStore {
    WithoutQueue(DataSource dataSource, Duration dedupWindow) {
      super(dataSource, dedupWindow);
    }

    @Override
    String live() {
      return "state <> 'dead' and coalesce(available_at <= clock_timestamp(), true)";
    }

    @Override
    boolean isFast() {
      return false;
    }

    List<String> keys(Connection connection, int max) throws SQLException {
      return query(
          connection,
          """
          select m.message_key from outbox_message m left join outbox_key k using (message_key)
          where %s and coalesce(retry_at <= clock_timestamp(), true)
          group by message_key order by coalesce(max(k.place), min(seq)) limit ?
          """
              .formatted(live()),
          row -> row.getString(1),
          max);
    }

    static void toTheEnd(Connection connection, String key) throws SQLException {
      update(
          connection,
          """
          insert into outbox_key values (?, nextval('outbox_number'))
          on conflict (message_key) do update set place = excluded.place
          """,
          key);
    }

    @Override
    void usePlansByIndex(Connection connection) {}
  }

  /** From a textbook on queues: locks what it reads until it is settled. */
  static final class LocksUntilSettled extends WithoutQueue {
    LocksUntilSettled(DataSource dataSource, Duration dedupWindow) {
      super(dataSource, dedupWindow);
    }

    @Override
    public Claim claim(Claim.Request request) {
      PlainClaim claim = new PlainClaim(this, UUID.randomUUID());
      Connection connection = null;
      try {
        connection = dataSource.getConnection();
        connection.setAutoCommit(false);
        Instant now = now(connection);
        for (String key : keys(connection, request.maxMessages() + 20)) {
          if (!lock(connection, key)) {
            continue;
          }
          List<StoredMessage> due = due(connection, key, now, request.maxMessages());
          if (claim.add(due, request) < due.size()) {
            break;
          }
        }
        if (claim.messages.isEmpty()) {
          connection.rollback();
          connection.close();
        }
        return new OpenClaim(claim, connection);
      } catch (SQLException e) {
        close(connection);
        throw problem(e);
      }
    }

    private static boolean lock(Connection connection, String key) throws SQLException {
      boolean mine =
          query(
                  connection,
                  "select pg_try_advisory_xact_lock(hashtextextended(?, 0))",
                  row -> row.getBoolean(1),
                  key)
              .get(0);
      return mine
          && !query(
                  connection,
                  "select from outbox_message where message_key = ? for update skip locked",
                  row -> true,
                  key)
              .isEmpty();
    }

    private static void close(Connection connection) {
      try {
        if (connection != null) {
          connection.rollback();
          connection.close();
        }
      } catch (SQLException e) {
        // It is broken already.
      }
    }

    private record OpenClaim(PlainClaim claim, Connection connection) implements Claim {
      @Override
      public List<StoredMessage> messages() {
        return claim.messages();
      }

      @Override
      public Set<Long> renew(Duration lease) {
        return claim.sequences();
      }

      @Override
      public Set<Long> settle(Map<Long, Decision> decisions) {
        claim.check(decisions);
        try {
          if (claim.messages.isEmpty() || connection.isClosed()) {
            return claim.sequences();
          }
          Instant now = claim.store.now(connection);
          for (StoredMessage m : claim.messages) {
            claim.store.carryOut(connection, m.sequence(), decisions.get(m.sequence()), now);
            toTheEnd(connection, m.key());
          }
          connection.commit();
          return Set.of();
        } catch (SQLException e) {
          throw problem(e);
        } finally {
          close(connection);
        }
      }
    }
  }

  /** Reads in the order of the time of append. */
  static final class OrdersByTime extends PlainStore {
    OrdersByTime(DataSource dataSource, Duration dedupWindow) {
      super(dataSource, dedupWindow);
    }

    @Override
    String order() {
      return "created_at, seq";
    }
  }

  /** The same, with a time of append that is the beginning of the transaction. */
  static final class OrdersByNow extends PlainStore {
    OrdersByNow(DataSource dataSource, Duration dedupWindow) {
      super(dataSource, dedupWindow);
    }

    @Override
    String createdAt() {
      return "now()";
    }

    @Override
    String order() {
      return "created_at, seq";
    }
  }

  /** Makes a dead letter of what has failed five times. */
  static final class MakesDeadLetters extends PlainStore {
    MakesDeadLetters(DataSource dataSource, Duration dedupWindow) {
      super(dataSource, dedupWindow);
    }

    @Override
    void carryOut(Connection connection, long sequence, Decision decision, Instant now)
        throws SQLException {
      super.carryOut(connection, sequence, decision, now);
      if (decision instanceof Decision.Retry) {
        update(
            connection,
            "update outbox_message set state = 'dead', retry_at = null where seq = ? and attempts >= 5",
            sequence);
      }
    }
  }

  /** Has the time from its own machine. */
  static final class AsksItsOwnClock extends PlainStore {
    private final Clock clock;

    AsksItsOwnClock(DataSource dataSource, Duration dedupWindow, Clock clock) {
      super(dataSource, dedupWindow);
      this.clock = clock;
    }

    @Override
    Instant now(Connection connection) {
      return clock.instant();
    }
  }

  /** Settles on a connection in auto-commit. */
  static final class SettlesRowByRow extends PlainStore {
    SettlesRowByRow(DataSource dataSource, Duration dedupWindow) {
      super(dataSource, dedupWindow);
    }

    @Override
    Set<Long> settle(PlainClaim claim, Map<Long, Decision> decisions) {
      claim.check(decisions);
      try (Connection connection = dataSource.getConnection()) {
        return settle(connection, claim, decisions);
      } catch (SQLException e) {
        throw problem(e);
      }
    }
  }

  /** Has no index but the primary key. */
  static final class ReadsEverything extends PlainStore {
    ReadsEverything(DataSource dataSource, Duration dedupWindow) {
      super(dataSource, dedupWindow);
    }

    @Override
    String tables() {
      return TABLES.formatted(key(), createdAt());
    }

    @Override
    void usePlansByIndex(Connection connection) {}
  }

  /** Counts what waits by reading all of it. */
  static final class CountsEverything extends PlainStore implements StatisticsStore {
    CountsEverything(DataSource dataSource, Duration dedupWindow) {
      super(dataSource, dedupWindow);
    }

    @Override
    public Statistics statistics(int cap) {
      int most = StatisticsStore.checked(cap);
      try (Connection connection = dataSource.getConnection()) {
        return query(
                connection,
                """
                with waiting as (
                  select message_key, bool_or(halts) as halted from outbox_message
                  where halts or state = 'live' and retry_at is not null
                  group by message_key)
                select
                  count(*) filter (where state <> 'dead' and halted is null
                    and coalesce(available_at <= clock_timestamp(), true)) as pending,
                  count(*) filter (where state <> 'dead' and halted is null
                    and available_at > clock_timestamp()) as scheduled,
                  count(*) filter (where state <> 'dead' and halted is not null) as blocked,
                  count(*) filter (where state = 'dead') as dead,
                  (select count(*) from waiting where not halted) as blocked_keys,
                  (select count(*) from waiting where halted) as halted_keys,
                  extract(epoch from clock_timestamp() - min(created_at) filter (
                    where state <> 'dead' and halted is null
                    and coalesce(available_at <= clock_timestamp(), true))) as free_age,
                  extract(epoch from clock_timestamp() - min(created_at) filter (
                    where state <> 'dead' and halted is not null)) as blocked_age
                from outbox_message left join waiting using (message_key)
                """,
                row ->
                    new Statistics(
                        cap,
                        Math.min(most, row.getLong("pending")),
                        Math.min(most, row.getLong("scheduled")),
                        Math.min(most, row.getLong("blocked")),
                        Math.min(most, row.getLong("dead")),
                        Math.min(most, row.getLong("blocked_keys")),
                        Math.min(most, row.getLong("halted_keys")),
                        seconds(row.getBigDecimal("free_age")),
                        seconds(row.getBigDecimal("blocked_age"))))
            .get(0);
      } catch (SQLException e) {
        throw problem(e);
      }
    }

    private static Duration seconds(BigDecimal age) {
      return age == null ? null : Duration.ofMillis(age.movePointRight(3).longValue());
    }
  }

  /** Tidies keys up. */
  static final class TidiesKeys extends PlainStore {
    TidiesKeys(DataSource dataSource, Duration dedupWindow) {
      super(dataSource, dedupWindow);
    }

    @Override
    String key() {
      return "coalesce(lower(trim(partition_key)), aggregate_type || '/' || lower(trim(aggregate_id)))";
    }
  }

  /** Leases messages, and not keys. */
  static final class LeasesMessages extends WithoutQueue {
    LeasesMessages(DataSource dataSource, Duration dedupWindow) {
      super(dataSource, dedupWindow);
    }

    @Override
    String tables() {
      return super.tables()
          + "alter table outbox_message add held_from timestamptz, add held_until timestamptz";
    }

    @Override
    String live() {
      return super.live()
          + " and not coalesce(held_until > clock_timestamp() and held_from <= clock_timestamp(), false)";
    }

    @Override
    public Claim claim(Claim.Request request) {
      return inTurn(
          connection -> {
            Instant now = now(connection);
            PlainClaim claim = new PlainClaim(this, UUID.randomUUID());
            for (String key : keys(connection, request.maxMessages())) {
              List<StoredMessage> due = due(connection, key, now, request.maxMessages());
              if (claim.add(due, request) < due.size()) {
                break;
              }
              toTheEnd(connection, key);
            }
            lease(connection, claim, now, request.lease());
            return claim;
          });
    }

    private static void lease(Connection connection, PlainClaim claim, Instant now, Duration lease)
        throws SQLException {
      update(
          connection,
          "update outbox_message set claim = ?, held_from = ?, held_until = ? where seq = any (?)",
          claim.id,
          now,
          now.plus(lease),
          sequences(claim.messages));
    }

    @Override
    Set<Long> renew(PlainClaim claim, Duration lease) {
      return inTurn(
          connection -> {
            update(
                connection,
                "update outbox_message set held_from = ?, held_until = ? where claim = ?",
                now(connection),
                now(connection).plus(lease),
                claim.id);
            return held(connection, claim);
          });
    }

    @Override
    Set<Long> settle(Connection connection, PlainClaim claim, Map<Long, Decision> decisions)
        throws SQLException {
      update(connection, "update outbox_message set held_until = null where claim = ?", claim.id);
      return super.settle(connection, claim, decisions);
    }
  }

  /** Settles by the number of the message alone. */
  static final class SettlesForAnyone extends PlainStore {
    SettlesForAnyone(DataSource dataSource, Duration dedupWindow) {
      super(dataSource, dedupWindow);
    }

    @Override
    Set<Long> toSettle(Connection connection, PlainClaim claim) {
      return claim.sequences();
    }
  }

  /** Puts a message that failed aside, and goes on with those behind it. */
  static final class GoesOnWithoutTheHead extends PlainStore {
    GoesOnWithoutTheHead(DataSource dataSource, Duration dedupWindow) {
      super(dataSource, dedupWindow);
    }

    @Override
    boolean holdsBack() {
      return false;
    }

    @Override
    void release(Connection connection, String key, Instant now) throws SQLException {
      super.release(connection, key, now);
      if (!due(connection, key, now, 100).isEmpty()) {
        update(
            connection,
            "update outbox_key set place = nextval('outbox_number') where message_key = ?",
            key);
      }
    }
  }

  /** Looks whether a dedup key is there, and inserts it when it is not. */
  static final class LooksThenInserts extends PlainStore {
    LooksThenInserts(DataSource dataSource, Duration dedupWindow) {
      super(dataSource, dedupWindow);
    }

    @Override
    String tables() {
      return super.tables().replace("dedup_key outbox_text primary key", "dedup_key outbox_text");
    }

    @Override
    boolean takeDedupKey(Connection connection, String dedupKey, Instant now) throws SQLException {
      boolean there =
          !query(
                  connection,
                  "select from outbox_dedup where dedup_key = ? and created_at >= ?",
                  row -> true,
                  dedupKey,
                  now.minus(dedupWindow))
              .isEmpty();
      if (!there) {
        update(connection, "insert into outbox_dedup values (?, ?)", dedupKey, now);
      }
      return !there;
    }
  }
}
