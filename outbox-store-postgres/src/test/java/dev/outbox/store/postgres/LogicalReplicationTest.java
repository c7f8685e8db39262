package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.abort;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.embedded.EmbeddedPostgres;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RetryPolicy;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.jdbc.Background;
import dev.outbox.store.jdbc.DatabaseTests;
import dev.outbox.tck.internal.Jdbc;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * A table in a publication needs a key that says which row was changed; a generated column is none.
 */
@DisplayName("In a publication of all tables")
class LogicalReplicationTest {
  private static final int KEYS = 20;
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /** A server of its own: a publication of all tables is felt by everybody. */
  private static final class Server implements AutoCloseable {
    final EmbeddedPostgres postgres;
    final HikariDataSource pool = new HikariDataSource();
    final PostgresOutboxStore store = PostgresOutboxStore.of(pool);

    Server(EmbeddedPostgres.Builder builder) {
      Logger.getLogger("liquibase").setLevel(Level.WARNING);
      postgres = builder.setting("wal_level", "logical").start();
      pool.setJdbcUrl(postgres.jdbcUrl());
      pool.setUsername(postgres.user());
      pool.setPassword(postgres.password());
      store.migrate();
    }

    void execute(String... statements) {
      Jdbc.execute(pool, statements);
    }

    String query(String sql) {
      try (Connection connection = pool.getConnection();
          Statement statement = connection.createStatement();
          ResultSet rows = statement.executeQuery(sql)) {
        return rows.next() ? rows.getString(1) : null;
      } catch (SQLException e) {
        throw new IllegalStateException(e);
      }
    }

    long messages() {
      return Long.parseLong(query("select count(*) from outbox_message"));
    }

    @Override
    public void close() {
      pool.close();
      postgres.close();
    }
  }

  /** What was committed and what was delivered, of all servers. */
  private static final class Account implements MessagePublisher {
    private final Set<String> committed = new TreeSet<>();
    private final Map<String, Set<String>> delivered = new HashMap<>();
    private final Set<String> failed = new TreeSet<>();

    /** Every seventh message fails once. */
    @Override
    public synchronized List<Result> publish(List<StoredMessage> messages) {
      List<Result> results = new ArrayList<>();
      Set<String> waiting = new TreeSet<>();
      for (StoredMessage message : messages) {
        String text = message.message().payloadAsString();
        boolean fails = message.sequence() % 7 == 0 && failed.add(text);
        if (fails || waiting.contains(message.key())) {
          waiting.add(message.key());
          results.add(Result.failed("not yet"));
        } else {
          delivered.computeIfAbsent(message.key(), k -> new LinkedHashSet<>()).add(text);
          results.add(Result.delivered());
        }
      }
      return results;
    }

    void append(Server to, int number) {
      String text = "%06d".formatted(number);
      OutboxMessage message =
          DatabaseTests.of("key " + number % KEYS).payload(text).dedupKey(text).build();
      Jdbc.inTransaction(to.pool, c -> to.store.append(c, message));
      synchronized (this) {
        committed.add(text);
      }
    }

    synchronized int committed() {
      return committed.size();
    }

    synchronized int delivered() {
      return delivered.values().stream().mapToInt(Set::size).sum();
    }

    synchronized void assertAllInOrder() {
      Set<String> all = new TreeSet<>();
      delivered.forEach(
          (key, texts) -> {
            assertThat(List.copyOf(texts)).as("order of %s", key).isSorted();
            all.addAll(texts);
          });
      assertThat(all).isEqualTo(committed);
    }
  }

  private static Relay relay(Server server, Account account) {
    Relay relay =
        Relay.builder(server.store, account)
            .retryPolicy(RetryPolicy.builder().firstDelay(Duration.ofMillis(20)).build())
            .build();
    relay.start();
    return relay;
  }

  @Test
  @DisplayName("a relay delivers, retries, dies and tidies up as anywhere")
  void publicationForAllTables() {
    try (Server server = new Server(EmbeddedPostgres.builder())) {
      server.execute("create publication p for all tables");
      Account account = new Account();
      try (Relay relay = relay(server, account)) {
        for (int i = 1; i <= 300; i++) {
          account.append(server, i);
        }
        await().atMost(PATIENCE).until(() -> server.messages() == 0);
      }
      account.assertAllInOrder();
      server.execute(
          "insert into outbox_message (aggregate_type, aggregate_id, event_type, payload)"
              + " values ('order', 'dead', 'Placed', '{}'), ('order', 'dead too', 'Placed', '{}')");
      try (Relay relay =
          Relay.builder(server.store, messages -> rejected(messages.size())).build()) {
        relay.start();
        await().atMost(PATIENCE).until(() -> server.store.deadLetters(0, 10).size() == 2);
      }
      List<Long> dead =
          server.store.deadLetters(0, 10).stream().map(d -> d.message().sequence()).toList();
      assertThat(server.store.requeue(dead.get(0))).isTrue();
      assertThat(server.store.discard(dead.get(1))).isTrue();
      server.execute(
          "update outbox_dedup set created_at = now() - interval '8 days'",
          "update outbox_schema set version = version");
      server.store.housekeep();
      assertThat(server.query("select count(*) from outbox_dedup")).isEqualTo("0");
    }
  }

  @Test
  @DisplayName("an archive is replicated as one table, whatever days come and go")
  void archive() {
    try (Server old = new Server(EmbeddedPostgres.builder());
        Server young = new Server(EmbeddedPostgres.builder())) {
      for (Server server : List.of(old, young)) {
        PostgresOutboxStore.builder(server.pool).archive(Archive.FULL).build().migrate();
      }
      old.execute(
          "create publication p for table outbox_archive_message with (publish_via_partition_root = true)");
      subscribe(young, old);
      await().atMost(PATIENCE).until(() -> young.query(COPYING).equals("0"));
      // A day that only the publisher has, and a row that is deleted from the rest.
      old.execute(
          """
          create table of_2001 partition of outbox_archive_message
          for values from ('2001-01-01') to ('2002-01-01')
          """,
          archived(1, "2001-05-05"),
          archived(2, "2000-05-05"),
          "delete from outbox_archive_message_rest",
          archived(3, "now"));
      await()
          .atMost(PATIENCE)
          .until(
              () ->
                  "1,3"
                      .equals(
                          young.query(
                              "select string_agg(seq::text, ',' order by seq) from outbox_archive_message")));
    }
  }

  private static String archived(long sequence, String at) {
    return """
        insert into outbox_archive_message (archived_at, outcome, seq, id, aggregate_type, aggregate_id,
          event_type, content_type, created_at, attempts)
        values ('%s', 'DELIVERED', %d, gen_random_uuid(), 't', 'i', 'e', 'c', now(), 0)
        """
        .formatted(at, sequence);
  }

  private static List<Result> rejected(int count) {
    return java.util.Collections.nCopies(count, Result.rejected("no"));
  }

  @Test
  @DisplayName(
      "a newer server takes over from an older one under load, and all is delivered in order")
  void upgrade() throws Exception {
    try (Server old = older();
        Server young = new Server(EmbeddedPostgres.builder())) {
      Account account = new Account();
      old.execute("create publication p for all tables");
      young.execute("truncate " + young.query(TABLES));
      AtomicBoolean stop = new AtomicBoolean();
      CompletableFuture<Integer> producer;
      try (Relay relay = relay(old, account)) {
        producer =
            CompletableFuture.supplyAsync(() -> produce(old, account, stop), Background.THREADS);
        await().atMost(PATIENCE).until(() -> account.delivered() > 100);
        subscribe(young, old);
        await()
            .atMost(PATIENCE)
            .until(() -> young.query(COPYING).equals("0") && deliversMore(account));
      }
      // The relay has stopped and the producers go on: there is a backlog to take over.
      int delivered = account.delivered();
      await().atMost(PATIENCE).until(() -> account.committed() > delivered + 200);
      stop.set(true);
      int next = producer.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      String end = old.query("select pg_current_wal_lsn()");
      await()
          .atMost(PATIENCE)
          .until(
              () ->
                  old.query(
                          "select count(*) from pg_stat_replication where replay_lsn >= '%s'"
                              .formatted(end))
                      .equals("1"));
      young.execute("drop subscription s");
      assertThat(young.messages()).as("taken over").isEqualTo(old.messages()).isPositive();
      young.store.housekeep(); // what a relay begins with, before the producers come
      try (Relay relay = relay(young, account)) {
        for (int i = next; i < next + 300; i++) {
          account.append(young, i);
        }
        await().atMost(PATIENCE).until(() -> young.messages() == 0);
      }
      account.assertAllInOrder();
    }
  }

  private static void subscribe(Server young, Server old) {
    young.execute(
        "create subscription s connection 'host=127.0.0.1 port=%d user=%s password=%s dbname=postgres' publication p"
            .formatted(old.postgres.port(), old.postgres.user(), old.postgres.password()));
  }

  private static final String TABLES =
      "select string_agg(relname, ', ') from pg_class"
          + " where relkind = 'r' and relnamespace = 'public'::regnamespace";

  private static final String COPYING =
      "select count(*) from pg_subscription_rel where srsubstate <> 'r'";

  private static boolean deliversMore(Account account) {
    int before = account.delivered();
    await().atMost(PATIENCE).until(() -> account.delivered() > before + 100);
    return true;
  }

  private static int produce(Server server, Account account, AtomicBoolean stop) {
    int number = 1;
    while (!stop.get()) {
      account.append(server, number++);
    }
    return number;
  }

  /** Debian's, as users have it. */
  private static Server older() {
    try {
      return new Server(EmbeddedPostgres.builder().version("installed"));
    } catch (IllegalStateException e) {
      return abort("an upgrade needs a second PostgreSQL: " + e.getMessage());
    }
  }
}
