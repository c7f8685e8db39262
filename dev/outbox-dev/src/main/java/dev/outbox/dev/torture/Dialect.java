package dev.outbox.dev.torture;

import dev.outbox.Archive;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.EmbeddedMysql;
import dev.outbox.embedded.EmbeddedPostgres;
import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.mysql.MariadbInboxStore;
import dev.outbox.store.mysql.MariadbOutboxStore;
import dev.outbox.store.mysql.MysqlInboxStore;
import dev.outbox.store.mysql.MysqlOutboxStore;
import dev.outbox.store.postgres.PostgresInboxStore;
import dev.outbox.store.postgres.PostgresOutboxStore;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** What differs between the relational databases that are tortured. */
enum Dialect {
  POSTGRES(
      () -> EmbeddedPostgres.builder().setting("max_connections", "60").start(),
      PostgresOutboxStore::builder,
      PostgresInboxStore::builder,
      "?socketTimeout=%d&connectTimeout=%d",
      // Draws no transaction id: that comes with the first insert, so that ids and sequences are
      // drawn in different orders.
      "select pg_advisory_xact_lock(hashtextextended(?, 0))",
      "select last from torture_key where name = ?",
      """
      insert into outbox_message (id, aggregate_type, aggregate_id, event_type, payload, status)
      values (?::uuid, ?, ?, ?, ?, 'PENDING' || pg_sleep(?)::text)
      """,
      "begin isolation level repeatable read",
      "set local synchronous_commit = off",
      List.of(
          """
          select 'BLOCKED, but nobody finds it: ' || m.seq || ' of ' || m.aggregate_id
              || ', its key starts at ' || coalesce(k.low_seq::text, 'nothing')
          from outbox_message m left join outbox_blocked_key k
            on k.bucket = m.bucket and k.key = coalesce(m.partition_key, m.aggregate_type || '/' || m.aggregate_id)
          where m.status = 'BLOCKED' and (k.key is null or m.seq < k.low_seq)
          """,
          """
          select 'halted, but not by a dead letter: ' || k::text from outbox_blocked_key k
          where k.halted_by is not null and not exists (select from outbox_message m
            where m.seq = k.halted_by and m.status = 'DEAD')
          """,
          """
          select 'PENDING, but below the mark: ' || m.seq || ' in ' || b::text
          from outbox_message m join outbox_bucket b on b.bucket = m.bucket
          where m.status = 'PENDING' and (m.seq < b.low_water
            or m.seq < b.low_water_ahead and b.ahead_of is not null and not exists (
              select from unnest(b.ahead_of) x
              where pg_visible_in_snapshot(x::text::xid8, pg_current_snapshot())))
          """)),

  MYSQL(
      () -> EmbeddedMysql.builder().setting("max_connections", "60").start(),
      MysqlOutboxStore::builder,
      MysqlInboxStore::builder,
      "&socketTimeout=%d000&connectTimeout=%d000",
      "select 1 from torture_key where name = ? for update",
      "select last from torture_key where name = ? for update",
      """
      insert into outbox_message (id, aggregate_type, aggregate_id, event_type, payload, status)
      values (?, ?, ?, ?, ?, if(sleep(?) = 0, 'PENDING', 'PENDING'))
      """,
      "start transaction with consistent snapshot",
      null,
      List.of(
          """
          select concat('BLOCKED, but nobody finds it: ', m.seq, ' of ', m.aggregate_id)
          from outbox_message m left join outbox_blocked_key k
            on k.bucket = m.bucket and k.`key` = coalesce(m.partition_key, concat(m.aggregate_type, '/', m.aggregate_id))
          where m.status = 'BLOCKED' and (k.bucket is null or m.seq < k.low_seq)
          """,
          """
          select concat('halted, but not by a dead letter: ', k.halted_by) from outbox_blocked_key k
          where k.halted_by is not null and not exists (select 1 from outbox_message m
            where m.seq = k.halted_by and m.status = 'DEAD')
          """)),

  /** Its embedded server gives a URL for MySQL's driver. */
  MARIADB(
      () -> EmbeddedMysql.mariadb().setting("max_connections", "60").start(),
      MariadbOutboxStore::builder,
      MariadbInboxStore::builder,
      MYSQL);

  /** How long a client waits for an answer, in seconds; about as long as a lease lasts. */
  static final int PATIENCE_SECONDS = 4;

  private static final int CONNECT_SECONDS = 5;

  private final Supplier<? extends DatabaseServer> server;
  private final Function<DataSource, JdbcOutboxStore.Builder<?, ?>> store;
  private final Function<DataSource, JdbcInboxStore.Builder<?, ?>> inbox;
  private final String urlOptions;
  private final String lockKey;
  private final String readKey;
  private final String slowInsert;
  private final String beginSnapshot;
  private final @Nullable String commitLater;
  private final List<String> wrong;

  Dialect(
      Supplier<? extends DatabaseServer> server,
      Function<DataSource, JdbcOutboxStore.Builder<?, ?>> store,
      Function<DataSource, JdbcInboxStore.Builder<?, ?>> inbox,
      String urlOptions,
      String lockKey,
      String readKey,
      String slowInsert,
      String beginSnapshot,
      @Nullable String commitLater,
      List<String> wrong) {
    this.server = server;
    this.store = store;
    this.inbox = inbox;
    this.urlOptions = urlOptions;
    this.lockKey = lockKey;
    this.readKey = readKey;
    this.slowInsert = slowInsert;
    this.beginSnapshot = beginSnapshot;
    this.commitLater = commitLater;
    this.wrong = wrong;
  }

  /** As another, but for its server and its stores. */
  Dialect(
      Supplier<? extends DatabaseServer> server,
      Function<DataSource, JdbcOutboxStore.Builder<?, ?>> store,
      Function<DataSource, JdbcInboxStore.Builder<?, ?>> inbox,
      Dialect like) {
    this(
        server,
        store,
        inbox,
        like.urlOptions,
        like.lockKey,
        like.readKey,
        like.slowInsert,
        like.beginSnapshot,
        like.commitLater,
        like.wrong);
  }

  /** As {@link Settings#database} says it. */
  static Dialect named(String name) {
    return valueOf(name.toUpperCase(Locale.ROOT));
  }

  DatabaseServer start() {
    return server.get();
  }

  JdbcOutboxStore store(DataSource dataSource, Archive archive) {
    return store.apply(dataSource).archive(archive).build();
  }

  JdbcInboxStore.Builder<?, ?> inbox(DataSource dataSource) {
    return inbox.apply(dataSource);
  }

  /** The URL by way of a proxy, with a client's patience. */
  String url(DatabaseServer server, int port) {
    return server.jdbcUrl().replaceFirst("127\\.0\\.0\\.1:\\d+", "127.0.0.1:" + port)
        + urlOptions.formatted(PATIENCE_SECONDS, CONNECT_SECONDS);
  }

  /** Locks a key, {@code ?}, until the transaction ends. */
  String lockKey() {
    return lockKey;
  }

  /** The number of a locked key's last message. */
  String readKey() {
    return readKey;
  }

  /**
   * A message by plain SQL, which stands still in the middle: id, aggregate type, aggregate id,
   * event type, payload, seconds.
   */
  String slowInsert() {
    return slowInsert;
  }

  /** Begins a transaction that keeps deleted rows from being removed, from its first query on. */
  String beginSnapshot() {
    return beginSnapshot;
  }

  /** Makes the transaction's commit return before it is durable, where there is such a thing. */
  Optional<String> commitLater() {
    return Optional.ofNullable(commitLater);
  }

  /** What must have no rows at any time; each says what is wrong. */
  List<String> wrong() {
    return wrong;
  }
}
