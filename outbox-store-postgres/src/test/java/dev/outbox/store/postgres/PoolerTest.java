package dev.outbox.store.postgres;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.OutboxException;
import dev.outbox.OutboxMessage;
import dev.outbox.PermanentOutboxException;
import dev.outbox.TransientOutboxException;
import dev.outbox.embedded.EmbeddedPgBouncer;
import dev.outbox.embedded.EmbeddedPostgres;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.jdbc.DatabaseTests;
import dev.outbox.store.jdbc.StalledReader;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

@DisplayName("Behind a real PgBouncer")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PoolerTest {
  private static final Claim.Request REQUEST =
      new Claim.Request("test", 50, 1L << 20, Duration.ofSeconds(30));

  private EmbeddedPostgres postgres;
  private EmbeddedPgBouncer pooler;
  private Database direct;

  @BeforeAll
  void start() {
    postgres = EmbeddedPostgres.builder().unixSocket().start();
    // Fewer processes of the server than clients, so that they change.
    pooler = pooler(0);
  }

  /**
   * @param statements how many prepared statements of each client it carries, where it can
   */
  private EmbeddedPgBouncer pooler(int statements) {
    Map<String, String> settings = new HashMap<>(Map.of("default_pool_size", "4"));
    if (EmbeddedPgBouncer.carriesStatements()) {
      settings.put("max_prepared_statements", Integer.toString(statements));
    }
    return EmbeddedPgBouncer.start(postgres, settings);
  }

  @AfterAll
  void stop() {
    if (pooler != null) {
      pooler.close();
    }
    if (postgres != null) {
      postgres.close();
    }
  }

  @BeforeEach
  void migrate() {
    direct = new Database(postgres);
    direct.execute(store(direct.pool).ddl());
  }

  @AfterEach
  void drop() {
    direct.close();
  }

  private PostgresOutboxStore store(DataSource pool) {
    return builder(pool).build();
  }

  private PostgresOutboxStore.Builder builder(DataSource pool) {
    return PostgresOutboxStore.builder(pool).schema(direct.schema());
  }

  private static HikariConfig config(EmbeddedPgBouncer pooler, Map<String, String> properties) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(pooler.jdbcUrl());
    config.setUsername(pooler.user());
    config.setPassword(pooler.password());
    config.setMaximumPoolSize(12);
    config.setMinimumIdle(0);
    properties.forEach(config::addDataSourceProperty);
    return config;
  }

  /** By a pool on the pooler. */
  private static void through(
      EmbeddedPgBouncer pooler, Map<String, String> properties, Consumer<HikariDataSource> work) {
    try (HikariDataSource pool = new HikariDataSource(config(pooler, properties))) {
      work.accept(pool);
    }
  }

  private static OutboxMessage message(int key, String payload) {
    return DatabaseTests.of("order-" + key).partitionKey("order-" + key).payload(payload).build();
  }

  private static void append(
      HikariDataSource pool, PostgresOutboxStore store, OutboxMessage message) {
    try (Connection connection = pool.getConnection()) {
      connection.setAutoCommit(false);
      assertThat(store.append(connection, message).allStored()).isTrue();
      connection.commit();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Nested
  @DisplayName("in transaction mode")
  class Transactions {

    @Test
    @DisplayName("the driver's prepared statements are refused, by append and by claim")
    void refused() {
      through(
          pooler,
          Map.of(),
          pool -> {
            PostgresOutboxStore store = store(pool);
            assertRefused(() -> append(pool, store, message(1, "1")));
            assertRefused(() -> store.claim(REQUEST));
            assertRefused(store::verify);
          });
      assertThat(direct.query("select count(*) from outbox_message")).isEqualTo("0");
    }

    @Test
    @DisplayName("append is refused also in a store whose own connections are direct")
    void appendThroughAnother() {
      PostgresOutboxStore store = store(direct.pool);
      store.verify();
      append(direct.pool, store, message(1, "1"));
      through(pooler, Map.of(), pool -> assertRefused(() -> append(pool, store, message(1, "2"))));
      assertThat(direct.query("select count(*) from outbox_message")).isEqualTo("1");
    }

    private void assertRefused(ThrowingCallable work) {
      assertThatThrownBy(work)
          .isInstanceOf(OutboxException.class)
          .hasMessageMatching(
              "there is a pooler between the driver and the server \\(the driver was told process -?\\d+, the server's is \\d+\\), and with prepareThreshold=5 .*: set prepareThreshold=0 in the JDBC URL, or use PgBouncer 1.21 or newer with max_prepared_statements, or say poolerKeepsSessions\\(\\) .*");
    }

    @Test
    @DisplayName("without prepared statements everything arrives once and in order")
    void right() {
      through(pooler, Map.of("prepareThreshold", "0"), PoolerTest.this::everythingArrives);
    }

    @Test
    @DisplayName("nobody says that no relay lives, because none could be seen")
    void unseen() {
      through(
          pooler,
          Map.of("prepareThreshold", "0"),
          pool -> assertThat(store(pool).statistics(10).relays()).isNull());
      assertThat(store(direct.pool).statistics(10).relays()).isZero();
    }

    @Test
    @DisplayName("so it does with prepared statements, where the pooler carries them along")
    void carried() {
      assumeTrue(
          EmbeddedPgBouncer.carriesStatements(),
          "the PgBouncer that is installed is older than 1.21 and carries no prepared statements");
      try (EmbeddedPgBouncer carrying = pooler(200)) {
        through(carrying, Map.of(), PoolerTest.this::everythingArrives);
      }
    }
  }

  @Test
  @DisplayName("in session mode, where that is said, prepared statements are right")
  void sessions() {
    try (EmbeddedPgBouncer sessions =
        EmbeddedPgBouncer.start(postgres, Map.of("pool_mode", "session"))) {
      through(
          sessions,
          Map.of(),
          pool -> everythingArrives(pool, builder(pool).poolerKeepsSessions().build()));
    }
  }

  @Test
  @DisplayName("in statement mode, which has no transactions, what to change is told")
  void statements() {
    try (EmbeddedPgBouncer statements =
        EmbeddedPgBouncer.start(postgres, Map.of("pool_mode", "statement"))) {
      for (String threshold : List.of("0", "5")) {
        through(
            statements,
            Map.of("prepareThreshold", threshold),
            pool -> {
              PostgresOutboxStore store = store(pool);
              for (ThrowingCallable work :
                  List.<ThrowingCallable>of(
                      store::verify,
                      () -> store.claim(REQUEST),
                      () -> append(pool, store, message(1, "1")))) {
                assertThatThrownBy(work)
                    .isInstanceOf(PermanentOutboxException.class)
                    .hasMessageContaining("use pool_mode=transaction or session")
                    .hasMessageNotContaining("prepareThreshold");
              }
            });
      }
    }
  }

  private void everythingArrives(HikariDataSource pool) {
    everythingArrives(pool, store(pool));
  }

  /** Appends and claims by more clients than the pooler has processes. */
  private void everythingArrives(HikariDataSource pool, PostgresOutboxStore store) {
    int producers = 4;
    int each = 100;
    Map<Integer, List<Integer>> delivered = new ConcurrentHashMap<>();
    ExecutorService threads = Executors.newFixedThreadPool(producers + 3);
    try {
      List<Future<?>> appended =
          IntStream.range(0, producers)
              .<Future<?>>mapToObj(
                  key ->
                      threads.submit(
                          () -> {
                            for (int i = 0; i < each; i++) {
                              append(pool, store, message(key, Integer.toString(i)));
                            }
                          }))
              .toList();
      List<Future<?>> relays =
          IntStream.range(0, 3)
              .<Future<?>>mapToObj(
                  i -> threads.submit(() -> relay(store, delivered, producers * each)))
              .toList();
      for (Future<?> work : appended) {
        work.get();
      }
      for (Future<?> work : relays) {
        work.get();
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    } finally {
      threads.shutdownNow();
    }
    List<Integer> inOrder = IntStream.range(0, each).boxed().toList();
    assertThat(delivered)
        .isEqualTo(
            IntStream.range(0, producers)
                .boxed()
                .collect(Collectors.toMap(key -> key, key -> inOrder)));
    assertThat(direct.query("select count(*) from outbox_message")).isEqualTo("0");
  }

  private static void relay(
      PostgresOutboxStore store, Map<Integer, List<Integer>> delivered, int all) {
    while (!Thread.currentThread().isInterrupted()
        && delivered.values().stream().mapToInt(List::size).sum() < all) {
      Claim claim = store.claim(REQUEST);
      Map<Long, Decision> decisions = new HashMap<>();
      for (StoredMessage m : claim.messages()) {
        int key = Integer.parseInt(m.key().substring("order-".length()));
        int number = Integer.parseInt(new String(m.message().payload(), UTF_8));
        delivered.computeIfAbsent(key, k -> new CopyOnWriteArrayList<>()).add(number);
        decisions.put(m.sequence(), Decision.delivered());
      }
      if (!decisions.isEmpty()) {
        assertThat(claim.settle(decisions)).isEmpty();
      }
    }
  }

  @Nested
  @DisplayName("a statement that was mixed up all the same is told with its reason:")
  class MixedUp {

    /** What a pooler does to a connection, done by hand: the driver does not know. */
    private void told(String sqlState, String behindItsBack) {
      Database one = direct.withOneConnection();
      try (HikariDataSource pool = one.pool) {
        PostgresOutboxStore store = store(pool);
        for (int i = 0; i < 10; i++) {
          assertThat(store.claim(REQUEST).messages()).isEmpty();
        }
        one.execute("do $$ begin execute 'deallocate all'; %s end $$".formatted(behindItsBack));
        assertThatThrownBy(() -> store.claim(REQUEST))
            .isInstanceOf(OutboxException.class)
            .hasMessageContaining(
                "is there a pooler between, as PgBouncer in transaction mode? then set prepareThreshold=0 in the JDBC URL")
            .hasMessageEndingWith("(SQLSTATE %s)", sqlState);
      }
    }

    @Test
    @DisplayName("one that is missing")
    void missing() {
      told("26000", "");
    }

    @Test
    @DisplayName("one that is another")
    void another() {
      told(
          "08P01",
          "for i in 1..99 loop execute format('prepare %I as select $1::int', 'S_' || i); end loop;");
    }
  }

  @Test
  @DisplayName("a client that stops while it reads is ended by housekeeping, also by Unix socket")
  void stalled() throws Exception {
    PostgresOutboxStore keeper = store(direct.pool); // which knows of no longer lease
    PostgresOutboxStore other = store(direct.pool);
    for (int i = 0; i < 100; i++) {
      append(direct.pool, keeper, message(i % 4, "x".repeat(200_000)));
    }
    Claim.Request large = new Claim.Request("stalled", 1_000, 1L << 30, Duration.ofSeconds(2));
    HikariConfig config = config(pooler, Map.of("prepareThreshold", "0"));
    try (StalledReader client = new StalledReader(config)) {
      CompletableFuture<Claim> claim = client.claim(pool -> builder(pool).build(), large);
      String writing = "select count(*) from pg_stat_activity where wait_event = 'ClientWrite'";
      await().atMost(Duration.ofMinutes(1)).until(() -> direct.query(writing).equals("1"));
      assertThat(keeper.claim(large).messages()).isEmpty();
      Set<Long> taken = new HashSet<>();
      await()
          .atMost(Duration.ofSeconds(60))
          .until(
              () -> {
                keeper.housekeep();
                other
                    .claim(new Claim.Request("other", 1_000, 1L << 30, Duration.ofMinutes(10)))
                    .messages()
                    .forEach(m -> taken.add(m.sequence()));
                return taken.size() == 100;
              });
      client.goOn();
      assertThatThrownBy(() -> claim.get(1, TimeUnit.MINUTES))
          .hasCauseInstanceOf(TransientOutboxException.class);
    }
  }
}
