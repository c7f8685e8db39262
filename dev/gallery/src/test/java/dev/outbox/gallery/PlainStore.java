package dev.outbox.gallery;

import static dev.outbox.OutboxMessage.MAX_DELAY;
import static java.util.stream.Collectors.toCollection;

import dev.outbox.Appended;
import dev.outbox.Header;
import dev.outbox.NoTransactionException;
import dev.outbox.OutboxException;
import dev.outbox.OutboxMessage;
import dev.outbox.PermanentOutboxException;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.StoredMessage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import javax.sql.DataSource;

/**
 * A correct store on PostgreSQL in plain JDBC, for the others of this package to be wrong in one
 * place. Written to be read, not to be fast.
 *
 * <pre>
 * outbox_message  one row a message, until it is delivered; seq is its sequence.
 *                 state: new, until a claim has seen it; live; later, when it is delayed; dead.
 *                 retry_at: it failed, and waits until then; halts: a dead letter that holds back
 *                 its key; claim: who has it
 * outbox_key      one row a key that has messages which are not new.
 *                 place: in the queue of those that may have something due, null when not in it.
 *                 claim, leased_at, leased_until: who has it, and how long.
 *                 wake_at: when it comes into the queue by itself
 * outbox_dedup    one row a dedup key
 * outbox_turn     one row, which every transaction of the store itself locks first
 * </pre>
 *
 * <ol>
 *   <li>Append inserts on the caller's connection (A2) and touches no row that others need (C3).
 *   <li>Claim sees to new messages in the order of their sequences, and to what has become due:
 *       their keys come to the end of the queue (C6).
 *   <li>It takes keys from the head of the queue, and of each the oldest messages up to the first
 *       that waits, or that failed (C2, O2). A key with a claim is in no queue (C1).
 *   <li>When its lease has run out, the key comes into the queue again. Whoever claims it next
 *       removes the earlier claim from all its messages (C4).
 *   <li>Settle changes the messages that still have the claim and no others (S1), and gives each
 *       key back: into the queue, to wait, or away when it has no messages.
 * </ol>
 */
class PlainStore implements OutboxStore<Connection>, DeadLetterStore {
  private static final int SOME = 100;
  private static final int ROUNDS = 10;

  final DataSource dataSource;
  final Duration dedupWindow;

  PlainStore(DataSource dataSource, Duration dedupWindow) {
    this.dataSource = dataSource;
    this.dedupWindow = dedupWindow;
  }

  // ---- tables

  static final String TABLES =
      """
      create domain outbox_text as varchar(255) collate "C" check (value ~ '\\S');
      create sequence outbox_number;
      create table outbox_message (
        seq bigint primary key default nextval('outbox_number'),
        id uuid not null default gen_random_uuid(),
        aggregate_type outbox_text not null, aggregate_id outbox_text not null,
        event_type outbox_text not null, partition_key outbox_text,
        message_key text collate "C" not null generated always as (%s) stored,
        payload bytea not null check (length(payload) <= 1000000),
        headers text not null default '[]' check (octet_length(headers) <= 500000),
        content_type outbox_text not null default 'application/json',
        dedup_key outbox_text, correlation_id outbox_text,
        max_attempts int check (max_attempts > 0),
        created_at timestamptz not null default %s, available_at timestamptz,
        state text not null default 'new', attempts int not null default 0,
        error text, failed_at timestamptz, retry_at timestamptz, halts boolean not null default false,
        claim uuid);
      create table outbox_key (message_key text collate "C" primary key, place bigint, claim uuid,
        leased_at timestamptz, leased_until timestamptz, wake_at timestamptz);
      create table outbox_dedup (dedup_key outbox_text primary key, created_at timestamptz not null);
      create table outbox_turn ();
      insert into outbox_turn default values;
      """;

  static final String INDEXES =
      """
      create index on outbox_message (seq) where state = 'new';
      create index on outbox_message (message_key, seq) where state = 'live';
      create index on outbox_message (available_at) where state = 'later';
      create index on outbox_message (seq) where state = 'dead';
      create index on outbox_message (message_key) where halts;
      create index on outbox_message (claim) where claim is not null;
      create index on outbox_message (message_key) where claim is not null;
      create index on outbox_key (place) where place is not null;
      create index on outbox_key (wake_at) where wake_at is not null;
      create index on outbox_key (leased_at) where leased_at is not null;
      create index on outbox_key (claim) where claim is not null;
      """;

  String tables() {
    return TABLES.formatted(key(), createdAt()) + INDEXES;
  }

  /** The key of a message, in SQL. */
  String key() {
    return "coalesce(partition_key, aggregate_type || '/' || aggregate_id)";
  }

  /** The time of an append, in SQL. */
  String createdAt() {
    return "clock_timestamp()";
  }

  void migrate() {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(tables());
    } catch (SQLException e) {
      throw problem(e);
    }
  }

  // ---- append

  @Override
  public Appended append(Connection transaction, List<OutboxMessage> messages) {
    try {
      if (transaction.getAutoCommit()) {
        throw new NoTransactionException(
            "the connection is in auto-commit: call setAutoCommit(false) before the append");
      }
      Instant now = now(transaction);
      Set<UUID> duplicates = new HashSet<>();
      for (OutboxMessage m : messages) {
        Instant due = m.deliverAfter() != null ? now.plus(m.deliverAfter()) : m.availableAt();
        if (m.dedupKey() != null && !takeDedupKey(transaction, m.dedupKey(), now)) {
          duplicates.add(m.id());
          continue;
        }
        update(
            transaction,
            """
            insert into outbox_message (id, aggregate_type, aggregate_id, event_type, partition_key,
              payload, headers, content_type, dedup_key, correlation_id, max_attempts,
              available_at, state)
            values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            m.id(),
            m.aggregateType(),
            m.aggregateId(),
            m.eventType(),
            m.partitionKey(),
            m.payload(),
            Header.toJson(m.headers()),
            m.contentType(),
            m.dedupKey(),
            m.correlationId(),
            m.maxAttempts(),
            due,
            due != null && due.isAfter(now) ? "later" : "new");
      }
      return Appended.of(messages, duplicates);
    } catch (SQLException e) {
      throw problem(e);
    }
  }

  /** While the dedup key is in another open transaction, the insert waits for its end (A4). */
  boolean takeDedupKey(Connection connection, String dedupKey, Instant now) throws SQLException {
    return update(
            connection,
            """
            insert into outbox_dedup values (?, ?)
            on conflict (dedup_key) do update set created_at = excluded.created_at
            where outbox_dedup.created_at < ?
            """,
            dedupKey,
            now,
            now.minus(dedupWindow))
        == 1;
  }

  // ---- claim

  @Override
  public Claim claim(Claim.Request request) {
    return inTurn(
        connection -> {
          Instant now = now(connection);
          PlainClaim claim = new PlainClaim(this, UUID.randomUUID());
          int seen = 1;
          for (int i = 0; i < ROUNDS && seen > 0 && claim.messages.isEmpty(); i++) {
            seen = seeToNew(connection, now) + seeToDue(connection, now);
            seen += takeKeys(connection, claim, request, now);
          }
          claim.pollAgain = seen > 0;
          return claim;
        });
  }

  private int seeToNew(Connection connection, Instant now) throws SQLException {
    List<String> keys =
        query(
            connection,
            """
            update outbox_message set state = case when available_at > ? then 'later' else 'live' end
            where seq in (select seq from outbox_message where state = 'new' order by seq limit ?)
            returning message_key, state
            """,
            row -> row.getString(2).equals("live") ? row.getString(1) : "",
            now,
            SOME);
    queue(connection, keys);
    return keys.size();
  }

  /** Delayed messages, retries, leases; a lease that begins in the future is from another clock. */
  private int seeToDue(Connection connection, Instant now) throws SQLException {
    List<String> keys =
        query(
            connection,
            """
            update outbox_message set state = 'live' where seq in (select seq from outbox_message
              where state = 'later' and available_at <= ? order by available_at limit ?)
            returning message_key
            """,
            row -> row.getString(1),
            now,
            SOME);
    queue(connection, keys);
    update(connection, "update outbox_key set wake_at = ? where leased_at > ?", now, now);
    int woken =
        update(
            connection,
            """
            update outbox_key set place = nextval('outbox_number'), wake_at = null, leased_at = null
            where message_key in (
              select message_key from outbox_key where wake_at <= ? order by wake_at limit ?)
            """,
            now,
            SOME);
    return keys.size() + woken;
  }

  /** A key that is there already is queued, or will be when what it waits for has happened. */
  private void queue(Connection connection, List<String> keys) throws SQLException {
    Set<String> distinct = new LinkedHashSet<>(keys);
    distinct.remove("");
    for (String key : distinct) {
      update(
          connection,
          "insert into outbox_key values (?, nextval('outbox_number')) on conflict do nothing",
          key);
    }
  }

  private int takeKeys(Connection connection, PlainClaim claim, Claim.Request request, Instant now)
      throws SQLException {
    List<String> keys =
        query(
            connection,
            "select message_key from outbox_key where place is not null order by place limit ?",
            row -> row.getString(1),
            request.maxMessages());
    for (String key : keys) {
      List<StoredMessage> due = due(connection, key, now, request.maxMessages());
      if (due.isEmpty()) {
        release(connection, key, now);
        continue;
      }
      int taken = claim.add(due, request);
      if (taken > 0) {
        take(connection, claim, key, due.subList(0, taken), now, request.lease());
      }
      if (taken < due.size()) {
        break;
      }
    }
    return keys.size();
  }

  /** The oldest of the key, up to the first that waits; one that failed comes without followers. */
  List<StoredMessage> due(Connection connection, String key, Instant now, int max)
      throws SQLException {
    List<StoredMessage> due = new ArrayList<>();
    if (isHalted(connection, key)) {
      return due;
    }
    for (Row row :
        query(
            connection,
            "select * from outbox_message where message_key = ? and "
                + live()
                + " order by "
                + order()
                + " limit ?",
            Row::of,
            key,
            max)) {
      if (row.retryAt == null || !row.retryAt.isAfter(now)) {
        due.add(row.message);
      }
      if (row.retryAt != null && holdsBack()) {
        break;
      }
    }
    return due;
  }

  /** Whether it says that it keeps C5. */
  boolean isFast() {
    return true;
  }

  /** Which messages of a key may come. */
  String live() {
    return "state = 'live'";
  }

  /** In which messages of a key come. */
  String order() {
    return "seq";
  }

  /** Whether a message that failed holds back those behind it. */
  boolean holdsBack() {
    return true;
  }

  boolean isHalted(Connection connection, String key) throws SQLException {
    return !query(
            connection,
            "select seq from outbox_message where message_key = ? and halts",
            row -> row.getLong(1),
            key)
        .isEmpty();
  }

  void take(
      Connection connection,
      PlainClaim claim,
      String key,
      List<StoredMessage> messages,
      Instant now,
      Duration lease)
      throws SQLException {
    takeOver(connection, key);
    update(
        connection,
        "update outbox_message set claim = ? where seq = any (?)",
        claim.id,
        sequences(messages));
    update(
        connection,
        """
        update outbox_key set place = null, claim = ?, leased_at = ?, leased_until = ?, wake_at = ?
        where message_key = ?
        """,
        claim.id,
        now,
        now.plus(lease),
        now.plus(lease),
        key);
  }

  /** Whoever had the key before has it no longer. */
  void takeOver(Connection connection, String key) throws SQLException {
    update(
        connection,
        "update outbox_message set claim = null where message_key = ? and claim is not null",
        key);
  }

  static Long[] sequences(List<StoredMessage> messages) {
    return messages.stream().map(StoredMessage::sequence).toArray(Long[]::new);
  }

  // ---- settle

  Set<Long> settle(PlainClaim claim, Map<Long, Decision> decisions) {
    claim.check(decisions);
    return inTurn(connection -> settle(connection, claim, decisions));
  }

  Set<Long> settle(Connection connection, PlainClaim claim, Map<Long, Decision> decisions)
      throws SQLException {
    Instant now = now(connection);
    Set<Long> lost = claim.sequences();
    for (long sequence : toSettle(connection, claim)) {
      carryOut(connection, sequence, decisions.get(sequence), now);
      lost.remove(sequence);
    }
    update(connection, "update outbox_message set claim = null where claim = ?", claim.id);
    for (String key :
        query(
            connection,
            "select message_key from outbox_key where claim = ?",
            row -> row.getString(1),
            claim.id)) {
      release(connection, key, now);
    }
    return lost;
  }

  /** Which messages a settle changes: those that the claim still has (S1). */
  Set<Long> toSettle(Connection connection, PlainClaim claim) throws SQLException {
    return held(connection, claim);
  }

  /** What the claim still has, in the order of its sequences. */
  final Set<Long> held(Connection connection, PlainClaim claim) throws SQLException {
    return new TreeSet<>(
        query(
            connection,
            "select seq from outbox_message where claim = ?",
            row -> row.getLong(1),
            claim.id));
  }

  void carryOut(Connection connection, long sequence, Decision decision, Instant now)
      throws SQLException {
    if (decision instanceof Decision.Delivered) {
      update(connection, "delete from outbox_message where seq = ?", sequence);
    } else if (decision instanceof Decision.Retry retry) {
      Duration delay =
          retry.delay().isNegative()
              ? Duration.ZERO
              : retry.delay().compareTo(MAX_DELAY) > 0 ? MAX_DELAY : retry.delay();
      update(
          connection,
          """
          update outbox_message set attempts = attempts + ?, retry_at = ?, error = ?, failed_at = ?
          where seq = ?
          """,
          retry.counts() ? 1 : 0,
          now.plus(delay),
          retry.error(),
          now,
          sequence);
    } else if (decision instanceof Decision.Dead dead) {
      update(
          connection,
          """
          update outbox_message set state = 'dead', attempts = attempts + 1, retry_at = null,
            halts = ?, error = ?, failed_at = ? where seq = ?
          """,
          dead.haltsKey(),
          dead.error(),
          now,
          sequence);
    }
  }

  /** Nobody has the key: it comes to the end of the queue, or waits, or is forgotten. */
  void release(Connection connection, String key, Instant now) throws SQLException {
    List<Row> first =
        query(
            connection,
            "select * from outbox_message where message_key = ? and state = 'live' order by "
                + order()
                + " limit 1",
            Row::of,
            key);
    boolean halted = isHalted(connection, key);
    if (first.isEmpty() && !halted) {
      update(connection, "delete from outbox_key where message_key = ?", key);
      return;
    }
    Instant wakeAt = halted || first.isEmpty() ? null : first.get(0).retryAt;
    update(
        connection,
        """
        insert into outbox_key values (?, case when ? then nextval('outbox_number') end,
          null, null, null, ?)
        on conflict (message_key) do update set place = excluded.place, claim = null,
          leased_at = null, leased_until = null, wake_at = excluded.wake_at
        """,
        key,
        !halted && wakeAt == null,
        wakeAt);
  }

  Set<Long> renew(PlainClaim claim, Duration lease) {
    return inTurn(
        connection -> {
          Instant now = now(connection);
          Instant until = now.plus(lease);
          update(
              connection,
              """
              update outbox_key set place = null, leased_at = ?, leased_until = ?, wake_at = ?
              where claim = ?
              """,
              now,
              until,
              until,
              claim.id);
          return held(connection, claim);
        });
  }

  // ---- dead letters

  @Override
  public List<DeadLetter> deadLetters(long afterSequence, int limit) {
    if (limit < 1) {
      throw new IllegalArgumentException("limit is " + limit + ", at least 1 is needed");
    }
    return inTurn(
        connection ->
            query(
                connection,
                "select * from outbox_message where state = 'dead' and seq > ? order by seq limit"
                    + " ?",
                row ->
                    new DeadLetter(
                        Row.of(row).message,
                        row.getString("error"),
                        failedAt(row),
                        row.getBoolean("halts")),
                afterSequence,
                limit));
  }

  private static Instant failedAt(ResultSet row) throws SQLException {
    return row.getObject("failed_at", OffsetDateTime.class).toInstant();
  }

  @Override
  public Set<Long> requeue(Set<Long> sequences) {
    return decide(
        """
        update outbox_message set state = 'live', attempts = 0, halts = false
        where seq = ? and state = 'dead' returning message_key
        """,
        sequences);
  }

  @Override
  public Set<Long> discard(Set<Long> sequences) {
    return decide(
        "delete from outbox_message where seq = ? and state = 'dead' returning message_key",
        sequences);
  }

  private Set<Long> decide(String sql, Set<Long> sequences) {
    return inTurn(
        connection -> {
          Set<Long> decided = new TreeSet<>();
          for (long sequence : sequences) {
            for (String key : query(connection, sql, row -> row.getString(1), sequence)) {
              releaseUnlessClaimed(connection, key);
              decided.add(sequence);
            }
          }
          return decided;
        });
  }

  private void releaseUnlessClaimed(Connection connection, String key) throws SQLException {
    if (query(
            connection,
            "select claim from outbox_key where message_key = ? and claim is not null",
            row -> row.getString(1),
            key)
        .isEmpty()) {
      release(connection, key, now(connection));
    }
  }

  // ---- rows

  /** A row as it was read. */
  static final class Row {
    final StoredMessage message;
    final Instant retryAt;

    private Row(StoredMessage message, Instant retryAt) {
      this.message = message;
      this.retryAt = retryAt;
    }

    static Row of(ResultSet row) throws SQLException {
      OffsetDateTime retryAt = row.getObject("retry_at", OffsetDateTime.class);
      return new Row(message(row), retryAt == null ? null : retryAt.toInstant());
    }

    private static StoredMessage message(ResultSet row) throws SQLException {
      long sequence = row.getLong("seq");
      int attempts = row.getInt("attempts");
      Instant createdAt = row.getObject("created_at", OffsetDateTime.class).toInstant();
      String key = row.getString("message_key");
      String type = row.getString("aggregate_type");
      return StoredMessage.decode(sequence, key, type, attempts, createdAt, () -> content(row));
    }

    private static OutboxMessage content(ResultSet row) throws SQLException {
      OffsetDateTime availableAt = row.getObject("available_at", OffsetDateTime.class);
      return OutboxMessage.builder()
          .id(row.getObject("id", UUID.class))
          .aggregate(row.getString("aggregate_type"), row.getString("aggregate_id"))
          .eventType(row.getString("event_type"))
          .partitionKey(row.getString("partition_key"))
          .payload(row.getBytes("payload"))
          .addHeaders(Header.fromJson(row.getString("headers")))
          .contentType(row.getString("content_type"))
          .dedupKey(row.getString("dedup_key"))
          .correlationId(row.getString("correlation_id"))
          .availableAt(availableAt == null ? null : availableAt.toInstant())
          .maxAttempts(row.getObject("max_attempts", Integer.class))
          .build();
    }
  }

  /** A claim of some keys. */
  static final class PlainClaim implements Claim {
    final PlainStore store;
    final UUID id;
    final List<StoredMessage> messages = new ArrayList<>();
    private long bytes;
    private boolean pollAgain;

    PlainClaim(PlainStore store, UUID id) {
      this.store = store;
      this.id = id;
    }

    /** Adds as many as it has room for, and says how many. */
    int add(List<StoredMessage> some, Claim.Request request) {
      int added = 0;
      for (StoredMessage m : some) {
        bytes += m.problem() == null ? m.message().payloadSize() : 0;
        if (messages.size() == request.maxMessages()
            || (!messages.isEmpty() && bytes > request.maxBytes())) {
          break;
        }
        messages.add(m);
        added++;
      }
      return added;
    }

    Set<Long> sequences() {
      return messages.stream().map(StoredMessage::sequence).collect(toCollection(HashSet::new));
    }

    void check(Map<Long, Decision> decisions) {
      Claim.requireKnown(messages, decisions);
    }

    @Override
    public List<StoredMessage> messages() {
      return List.copyOf(messages);
    }

    @Override
    public boolean pollAgain() {
      return pollAgain && messages.isEmpty();
    }

    @Override
    public Set<Long> renew(Duration lease) {
      return store.renew(this, lease);
    }

    @Override
    public Set<Long> settle(Map<Long, Decision> decisions) {
      return store.settle(this, decisions);
    }
  }

  // ---- JDBC

  interface Work<R> {
    R with(Connection connection) throws SQLException;
  }

  interface Read<R> {
    R from(ResultSet row) throws SQLException;
  }

  /** Works in a transaction of its own, when those before it have ended. */
  <R> R inTurn(Work<R> work) {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      try {
        query(connection, "select from outbox_turn for update", row -> true);
        usePlansByIndex(connection);
        R result = work.with(connection);
        connection.commit();
        return result;
      } finally {
        connection.rollback(); // does nothing after the commit
      }
    } catch (SQLException e) {
      throw problem(e);
    }
  }

  /** Whatever the statistics say, which are of a moment ago: all that is read has an index. */
  void usePlansByIndex(Connection connection) throws SQLException {
    query(
        connection,
        """
        select set_config('enable_' || way, 'off', true)
        from unnest(array['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'sort']) way
        """,
        row -> true);
  }

  /** The clock that decides about leases and delays. */
  Instant now(Connection connection) throws SQLException {
    return query(
            connection,
            "select clock_timestamp()",
            row -> row.getObject(1, OffsetDateTime.class).toInstant())
        .get(0);
  }

  static int update(Connection connection, String sql, Object... values) throws SQLException {
    try (PreparedStatement statement = prepared(connection, sql, values)) {
      return statement.executeUpdate();
    }
  }

  static <R> List<R> query(Connection connection, String sql, Read<R> read, Object... values)
      throws SQLException {
    try (PreparedStatement statement = prepared(connection, sql, values);
        ResultSet rows = statement.executeQuery()) {
      List<R> result = new ArrayList<>();
      while (rows.next()) {
        result.add(read.from(rows));
      }
      return result;
    }
  }

  private static PreparedStatement prepared(Connection connection, String sql, Object... values)
      throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    for (int i = 0; i < values.length; i++) {
      Object value = values[i];
      if (value instanceof Instant time) {
        value = time.atOffset(ZoneOffset.UTC);
      } else if (value instanceof Long[] numbers) {
        value = connection.createArrayOf("bigint", numbers);
      }
      statement.setObject(i + 1, value);
    }
    return statement;
  }

  static OutboxException problem(SQLException e) {
    String state = String.valueOf(e.getSQLState());
    return state.startsWith("08") || state.startsWith("40") || state.startsWith("57")
        ? new TransientOutboxException("run the transaction again: " + e.getMessage(), e)
        : new PermanentOutboxException("the database refused it: " + e.getMessage(), e);
  }
}
