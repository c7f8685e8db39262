package dev.outbox.store.postgres;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.core.internal.Announcement;
import dev.outbox.store.core.internal.AppendReport;
import dev.outbox.store.core.internal.AppendReport.Candidate;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.core.internal.Row.Claimable;
import dev.outbox.store.jdbc.internal.SqlDialect;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Appends any number of messages in one round trip, or a mass of them in several. */
final class Append implements SqlDialect.Append {
  /** Up to so many messages are bound one by one; more are bound as arrays, one for each column. */
  private static final int FEW = 10;

  /**
   * So many go into one statement, with so many bytes of payload: its values have to be below 1 GB.
   */
  private static final int MOST = 10_000;

  private static final long MOST_PAYLOAD = 1 << 26;

  /**
   * A column, or the value from which the database computes one.
   *
   * @param jdbcType the type of one value
   * @param type the database's type of an array's elements
   * @param value the value that a message has
   */
  private record Column(
      int jdbcType, String type, Function<OutboxMessage, @Nullable Object> value) {
    static Column text(Function<OutboxMessage, @Nullable Object> value) {
      return new Column(Types.VARCHAR, "text", value);
    }
  }

  /** What each statement takes, in this order. */
  private static final List<Column> COLUMNS =
      List.of(
          new Column(Types.OTHER, "uuid", OutboxMessage::id),
          Column.text(OutboxMessage::aggregateType),
          Column.text(OutboxMessage::aggregateId),
          Column.text(OutboxMessage::eventType),
          Column.text(OutboxMessage::partitionKey),
          new Column(Types.BINARY, "bytea", OutboxMessage::payload),
          Column.text(OutboxMessage::contentType),
          Column.text(m -> Header.toJson(m.headers())),
          Column.text(OutboxMessage::correlationId),
          new Column(Types.INTEGER, "integer", OutboxMessage::maxAttempts));

  /** What the statements for any message take: also the columns that few messages use. */
  private static final List<Column> ALL_COLUMNS =
      Stream.concat(
              COLUMNS.stream(),
              Stream.of(
                  Column.text(OutboxMessage::dedupKey),
                  Column.text(m -> text(m.availableAt())),
                  new Column(Types.BIGINT, "bigint", m -> micros(m.deliverAfter())),
                  Column.text(m -> text(m.expiresAt())),
                  new Column(Types.BIGINT, "bigint", m -> micros(m.expireAfter()))))
          .toList();

  /**
   * For a few messages without a dedup key and without a time, which is what most transactions
   * append. Nothing is computed, and ten messages take 60 % of the time that they take as arrays.
   */
  private static final String PLAIN =
      """
      insert into ${q}${p}message as m (id, aggregate_type, aggregate_id, event_type,
        partition_key, payload, content_type, headers, correlation_id, max_attempts)
      values
      """;

  private static final String PLAIN_ROW = "(?, ?, ?, ?, ?, ?, ?, ?::json, ?, ?)";

  private static final String WAITS =
      "current_setting('synchronous_commit') in ('on', 'remote_apply')";

  /** Where a message is, and whether the commit waits for the disk. */
  private static final String PLACE = " returning m.seq, m.bucket, " + WAITS;

  /**
   * Returns for each message the lease that holds its bucket where the message may be handed over,
   * and null where not: docs/design/handover.md has the conditions. It looks at the buckets from
   * their mark on, as a read does, and only in the mark's own history.
   */
  private static final String ALONE =
      PLACE
          + """
      , m.created_at,
        (select b.token || ' ' || b.claim_id
          from ${q}${p}bucket b cross join (
      """
          + PostgresText.ONLY_HISTORY
          + """
           ) now
          where b.bucket = m.bucket
            and (? >> m.bucket) & 1 = 1
            and now.history = ?
            and m.xmin = pg_current_xact_id()::xid
            and current_setting('transaction_isolation') = 'read committed'
            and ${waits}
            and m.seq >= ?
            and not exists (select from ${q}${p}message o
              where o.bucket = m.bucket and o.status = 'PENDING' and o.seq + 0 >= ?)
            and not exists (select from ${q}${p}blocked_key k where k.bucket = m.bucket)),
        set_config('enable_seqscan', current_setting('outbox.enable_seqscan'), true)
      """
              .replace("${waits}", WAITS);

  /**
   * A plan with sequential scans that is cached while tables are empty would make appends slow when
   * they are long. The transaction is not ours: its setting is put back when the next statement
   * runs, which is planned by then.
   */
  private static final String NO_SEQUENTIAL_SCANS =
      """
      select set_config('outbox.enable_seqscan', current_setting('enable_seqscan'), true),
        set_config('enable_seqscan', 'off', true);
      """;

  /** Whether {@link #ALONE} may be asked. */
  private static final String MAY_READ =
      """
      select bool_and(has_table_privilege(t, 'select') and not row_security_active(t))
      from unnest(array['${q}${p}message', '${q}${p}bucket', '${q}${p}blocked_key']) t
      """;

  private static final String FORBIDDEN = "42501";

  /** After so long a user is asked for again that lacked the rights: they may be given by then. */
  private static final long ASKED_AGAIN_NANOS = TimeUnit.MINUTES.toNanos(1);

  /**
   * An append with more bytes of payload is not handed over: what is handed over stays in memory.
   */
  private static final int MOST_BYTES = 1 << 16;

  /** One array for each column: so the statement is the same for any number of messages. */
  private static final String MANY =
      """
      with input as materialized (
        select * from unnest(?::uuid[], ?::text[], ?::text[], ?::text[], ?::text[], ?::bytea[],
          ?::text[], ?::text[], ?::text[], ?::integer[], ?::text[], ?::text[], ?::bigint[],
          ?::text[], ?::bigint[])
          with ordinality
        as i (id, aggregate_type, aggregate_id, event_type, partition_key, payload,
          content_type, headers, correlation_id, max_attempts, dedup_key, due_at, due_after_micros,
          expires_at, expires_after_micros, position)
      )
      """;

  /** The same for one message, twice as fast. */
  private static final String ONE =
      """
      with input as (
        select ?::uuid as id, ?::text as aggregate_type, ?::text as aggregate_id,
          ?::text as event_type, ?::text as partition_key, ?::bytea as payload,
          ?::text as content_type, ?::text as headers, ?::text as correlation_id,
          ?::integer as max_attempts, ?::text as dedup_key, ?::text as due_at,
          ?::bigint as due_after_micros, ?::text as expires_at,
          ?::bigint as expires_after_micros, 1 as position
      )
      """;

  /** {@link #PLAIN} for one message, for two, and so on. */
  private final List<String> plain;

  /** The same with {@link #PLACE}. */
  private final List<String> placing;

  /** The same with {@link #ALONE}. */
  private final List<String> asking;

  private final Map<String, Boolean> mayRead = new ConcurrentHashMap<>();

  /** By user that lacked the rights, when it was asked. */
  private final Map<String, Long> lackedRightsAt = new ConcurrentHashMap<>();

  private final LongSupplier clock;
  private final String asksRights;
  private final String many;
  private final String one;
  private final String manyWithDedup;
  private final String oneWithDedup;

  Append(PrefixedNames names) {
    this(names, System::nanoTime);
  }

  Append(PrefixedNames names, LongSupplier clock) {
    this.clock = clock;
    plain = forFew(names, "", "");
    placing = forFew(names, "", PLACE);
    asking = forFew(names, NO_SEQUENTIAL_SCANS, ALONE);
    asksRights = names.fill(MAY_READ);
    many = withoutDedup(names, MANY);
    one = withoutDedup(names, ONE);
    manyWithDedup = withDedup(names, MANY);
    oneWithDedup = withDedup(names, ONE);
  }

  private static List<String> forFew(PrefixedNames names, String before, String after) {
    return IntStream.rangeClosed(1, FEW)
        .mapToObj(
            n -> before + PLAIN + String.join(", ", Collections.nCopies(n, PLAIN_ROW)) + after)
        .map(names::fill)
        .toList();
  }

  private static String withoutDedup(PrefixedNames names, String input) {
    return names.fill(input + insert("") + " order by i.position");
  }

  /**
   * Takes the dedup keys in order, so that two transactions that append the same ones do not
   * deadlock; those that need several statements for it may. A key older than the window that was
   * not purged yet is taken over. One inside the window stays as it is and makes its message a
   * duplicate.
   */
  private static String withDedup(PrefixedNames names, String input) {
    return names.fill(
        input
            + """
            , fresh as (
              insert into ${q}${p}dedup as d (dedup_key, created_at)
              select distinct i.dedup_key, statement_timestamp() from input i
              where i.dedup_key is not null
              order by i.dedup_key
              on conflict (dedup_key) do update set created_at = excluded.created_at
                where d.created_at < excluded.created_at - ? * interval '1 millisecond'
              returning d.dedup_key
            ), duplicate as (
              select i.id, i.position from (
                select i.id, i.position, i.dedup_key,
                  row_number() over (partition by i.dedup_key order by i.position) as nth
                from input i where i.dedup_key is not null) i
              where i.nth > 1 or i.dedup_key not in (select f.dedup_key from fresh f)
            ), stored as (
            """
            + insert("where i.position not in (select d.position from duplicate d)")
            + """
             order by i.position
            )
            select id from duplicate
            """);
  }

  private static String insert(String where) {
    return """
    insert into ${q}${p}message (status, id, aggregate_type, aggregate_id, event_type,
      partition_key, payload, content_type, headers, dedup_key, correlation_id, max_attempts,
      available_at, expires_at)
    select case when i.due > statement_timestamp() then 'SCHEDULED' else 'PENDING' end,
      i.id, i.aggregate_type, i.aggregate_id, i.event_type,
      i.partition_key, i.payload, i.content_type, i.headers::json, i.dedup_key, i.correlation_id, i.max_attempts,
      i.due, coalesce(i.expires_at::timestamptz,
        statement_timestamp() + i.expires_after_micros * interval '1 microsecond')
    from (
      select i.*, coalesce(i.due_at::timestamptz,
        statement_timestamp() + i.due_after_micros * interval '1 microsecond') as due
      from input i
    ) i
    """
        + where;
  }

  @Override
  public Set<UUID> append(Connection connection, List<OutboxMessage> messages, Duration dedupWindow)
      throws SQLException {
    Set<UUID> duplicates = new HashSet<>();
    for (List<OutboxMessage> rest = messages; !rest.isEmpty(); ) {
      int count = fitting(rest);
      duplicates.addAll(appendAtOnce(connection, rest.subList(0, count), dedupWindow));
      rest = rest.subList(count, rest.size());
    }
    return Set.copyOf(duplicates);
  }

  /** How many of the first messages go into one statement. */
  private static int fitting(List<OutboxMessage> messages) {
    int count = 0;
    for (long bytes = 0; count < Math.min(MOST, messages.size()); count++) {
      bytes += messages.get(count).payloadSize();
      if (bytes > MOST_PAYLOAD) {
        break;
      }
    }
    return count;
  }

  Set<UUID> appendAtOnce(Connection connection, List<OutboxMessage> messages, Duration dedupWindow)
      throws SQLException {
    boolean dedup = messages.stream().anyMatch(m -> m.dedupKey() != null);
    if (!dedup && messages.size() <= FEW && messages.stream().noneMatch(Append::hasTime)) {
      try (PreparedStatement statement =
          connection.prepareStatement(plain.get(messages.size() - 1))) {
        int ignored = bindRows(statement, messages);
        statement.executeUpdate();
        return Set.of();
      }
    }
    boolean single = messages.size() == 1;
    try (PreparedStatement statement = connection.prepareStatement(statement(dedup, single))) {
      int bound =
          single
              ? bind(statement, 0, ALL_COLUMNS, messages.get(0))
              : bindArrays(statement, messages);
      if (!dedup) {
        statement.executeUpdate();
        return Set.of();
      }
      statement.setLong(bound + 1, dedupWindow.toMillis());
      Set<UUID> duplicates = new HashSet<>();
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          duplicates.add(rows.getObject(1, UUID.class));
        }
      }
      return duplicates;
    }
  }

  @Override
  public Optional<AppendReport> appendToHandOver(
      Connection connection, List<OutboxMessage> messages, List<Lease> open) throws SQLException {
    if (!mayBeHandedOver(messages) || !mayRead(connection)) {
      return Optional.empty();
    }
    try {
      return Optional.of(appendAsking(connection, messages, LowWaterMark.Asked.of(open)));
    } catch (SQLException e) {
      if (FORBIDDEN.equals(e.getSQLState())) { // the role was set to another one
        mayRead.put(user(connection), false);
      }
      throw e;
    }
  }

  /** Who appends need not be one who may read the tables. */
  private boolean mayRead(Connection connection) throws SQLException {
    String user = user(connection);
    Boolean known = mayRead.get(user);
    if (known != null) {
      return known;
    }
    long now = clock.getAsLong();
    Long lackedAt = lackedRightsAt.get(user);
    if (lackedAt != null && now - lackedAt < ASKED_AGAIN_NANOS) {
      return false;
    }
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(asksRights)) {
      boolean may = row.next() && row.getBoolean(1);
      if (may) {
        mayRead.put(user, true);
      } else {
        lackedRightsAt.put(user, now);
      }
      return may;
    }
  }

  private static String user(Connection connection) throws SQLException {
    return connection.getMetaData().getUserName();
  }

  private AppendReport appendAsking(
      Connection connection, List<OutboxMessage> messages, LowWaterMark.Asked asked)
      throws SQLException {
    boolean asksAlone = asked.buckets() != 0;
    try (PreparedStatement statement =
        connection.prepareStatement((asksAlone ? asking : placing).get(messages.size() - 1))) {
      int bound = bindRows(statement, messages);
      if (asksAlone) {
        statement.setLong(bound + 1, asked.buckets());
        statement.setString(bound + 2, asked.history());
        statement.setLong(bound + 3, asked.low());
        statement.setLong(bound + 4, asked.low());
      }
      boolean ignoredSettings = statement.execute() && asksAlone && statement.getMoreResults();
      try (ResultSet rows = statement.getResultSet()) {
        return report(messages, rows, asksAlone);
      }
    }
  }

  private static AppendReport report(
      List<OutboxMessage> messages, ResultSet rows, boolean asksAlone) throws SQLException {
    List<Candidate> alone = new ArrayList<>();
    Map<Long, Integer> buckets = new HashMap<>();
    for (OutboxMessage message : messages) {
      boolean ignored = rows.next();
      if (rows.getBoolean(3)) {
        buckets.put(rows.getLong(1), rows.getInt(2));
      }
      String lease = asksAlone ? rows.getString(5) : null;
      if (lease != null) {
        alone.add(alone(message, rows, lease.split(" ")));
      }
    }
    return new AppendReport(alone, new Announcement(buckets));
  }

  private static Candidate alone(OutboxMessage message, ResultSet rows, String[] lease)
      throws SQLException {
    long sequence = rows.getLong(1);
    Instant createdAt = rows.getObject(4, OffsetDateTime.class).toInstant();
    return new Candidate(
        new Claimable(
            rows.getInt(2),
            sequence,
            message.key(),
            Status.PENDING,
            message.id(),
            StoredMessage.of(sequence, 0, createdAt, message),
            null),
        Long.parseLong(lease[0]),
        UUID.fromString(lease[1]));
  }

  /** Whether these are messages that may be handed over: few, small, due at once, and for ever. */
  private static boolean mayBeHandedOver(List<OutboxMessage> messages) {
    return messages.size() <= FEW
        && messages.stream().noneMatch(m -> m.dedupKey() != null || hasTime(m))
        && messages.stream().mapToLong(OutboxMessage::payloadSize).sum() <= MOST_BYTES;
  }

  private static boolean hasTime(OutboxMessage message) {
    return message.availableAt() != null
        || message.deliverAfter() != null
        || message.expiresAt() != null
        || message.expireAfter() != null;
  }

  private String statement(boolean dedup, boolean single) {
    if (dedup) {
      return single ? oneWithDedup : manyWithDedup;
    }
    return single ? one : many;
  }

  private static @Nullable String text(@Nullable Instant time) {
    return time == null ? null : time.toString();
  }

  private static @Nullable Long micros(@Nullable Duration duration) {
    return duration == null ? null : TimeUnit.MICROSECONDS.convert(duration);
  }

  /** Binds {@link #PLAIN_ROW} for each message; returns how many parameters are bound. */
  private static int bindRows(PreparedStatement statement, List<OutboxMessage> messages)
      throws SQLException {
    int bound = 0;
    for (OutboxMessage message : messages) {
      bound = bind(statement, bound, COLUMNS, message);
    }
    return bound;
  }

  /**
   * Binds a message's values.
   *
   * @param before how many parameters are bound already
   * @return how many are bound then
   */
  private static int bind(
      PreparedStatement statement, int before, List<Column> columns, OutboxMessage message)
      throws SQLException {
    int bound = before;
    for (Column column : columns) {
      statement.setObject(++bound, column.value().apply(message), column.jdbcType());
    }
    return bound;
  }

  /**
   * Binds one array for each of {@link #ALL_COLUMNS}. The driver sends arrays of String and byte[]
   * without turning them into text, where their Java type says what they are.
   */
  private static int bindArrays(PreparedStatement statement, List<OutboxMessage> messages)
      throws SQLException {
    int bound = 0;
    for (Column column : ALL_COLUMNS) {
      Object[] values = messages.stream().map(column.value()).toArray();
      statement.setArray(
          ++bound,
          statement
              .getConnection()
              .createArrayOf(
                  column.type(),
                  switch (column.type()) {
                    case "text" -> Arrays.copyOf(values, values.length, String[].class);
                    case "bytea" -> Arrays.copyOf(values, values.length, byte[][].class);
                    default -> values;
                  }));
    }
    return bound;
  }
}
