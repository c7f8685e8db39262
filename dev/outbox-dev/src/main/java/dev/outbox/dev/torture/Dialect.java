package dev.outbox.dev.torture;

import dev.outbox.dev.bench.JdbcKind;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.EmbeddedMysql;
import dev.outbox.embedded.EmbeddedPostgres;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What differs between the relational databases that are tortured.
 *
 * @param name as {@link Settings#database} says it
 * @param start starts a server
 * @param urlOptions how long a client waits for an answer and for a connection, in seconds
 * @param lockKey locks a key, {@code ?}, until the transaction ends
 * @param readKey the number of a locked key's last message
 * @param slowInsert a message by plain SQL, which stands still in the middle: id, aggregate type,
 *     aggregate id, event type, payload, seconds
 * @param beginSnapshot begins a transaction that keeps deleted rows from being removed, from its
 *     first query on
 * @param commitLater makes the transaction's commit return before it is durable; null: there is no
 *     such thing
 * @param wrong what must have no rows at any time; each says what is wrong
 */
record Dialect(
    String name,
    JdbcKind kind,
    Supplier<? extends DatabaseServer> start,
    String urlOptions,
    String lockKey,
    String readKey,
    String slowInsert,
    String beginSnapshot,
    @Nullable String commitLater,
    List<String> wrong) {
  /** How long a client waits for an answer, in seconds; about as long as a lease lasts. */
  static final int PATIENCE_SECONDS = 4;

  private static final int CONNECT_SECONDS = 5;

  private static final Dialect POSTGRES =
      new Dialect(
          "postgres",
          kind("jdbc:postgresql:"),
          () -> EmbeddedPostgres.builder().setting("max_connections", "60").start(),
          "?socketTimeout=%d&connectTimeout=%d",
          // Draws no transaction id: that comes with the first insert, so that ids and sequences
          // are
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
          """));

  private static final Dialect MYSQL =
      mysql(
          "mysql",
          "jdbc:mysql:",
          () -> EmbeddedMysql.builder().setting("max_connections", "60").start());

  /** Its embedded server gives a URL for MySQL's driver. */
  private static final Dialect MARIADB =
      mysql(
          "mariadb",
          "jdbc:mariadb:",
          () -> EmbeddedMysql.mariadb().setting("max_connections", "60").start());

  static final List<Dialect> ALL = List.of(POSTGRES, MYSQL, MARIADB);

  private static Dialect mysql(String name, String url, Supplier<? extends DatabaseServer> start) {
    return new Dialect(
        name,
        kind(url),
        start,
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
          """));
  }

  private static JdbcKind kind(String url) {
    return JdbcKind.of(url).orElseThrow();
  }

  static Dialect named(String name) {
    return ALL.stream().filter(dialect -> dialect.name.equals(name)).findFirst().orElseThrow();
  }

  /** The URL by way of a proxy, with a client's patience. */
  String url(DatabaseServer server, int port) {
    return server.jdbcUrl().replaceFirst("127\\.0\\.0\\.1:\\d+", "127.0.0.1:" + port)
        + urlOptions.formatted(PATIENCE_SECONDS, CONNECT_SECONDS);
  }
}
