package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.outbox.embedded.DatabaseServer;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.jdbc.Background;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyIn;

/**
 * Random writers that do everything late that PostgreSQL lets them do late, and relays that claim
 * beside them. What a writer knows to be committed must be delivered, and nothing PENDING is ever
 * below a mark that is stored.
 */
@DisplayName("Beside writers that draw ids early and commit late")
class LateWritersTest {
  private static final int WRITERS = 8;
  private static final int TRANSACTIONS = 60;
  private static final int RELAYS = 4;
  private static final int KEYS = 30;

  /**
   * So often wrong rules may be lucky. Once all is compiled a try loses from 3 to 60 messages, the
   * first one of a process none now and then.
   */
  private static final int TRIES = 20;

  private static final String COLUMNS =
      "outbox_message (aggregate_type, aggregate_id, event_type, payload)";

  private static DatabaseServer server;

  @BeforeAll
  static void startServer() {
    server = DatabaseServer.postgres(Map.of("max_prepared_transactions", "20"));
  }

  @AfterAll
  static void stopServer() throws Exception {
    server.close();
  }

  @Test
  @DisplayName("every message comes, and marks stay below")
  void nothingIsLost() throws Exception {
    long seed = Long.getLong("outbox.seed", System.nanoTime());
    System.out.println("LateWritersTest: run again with -Doutbox.seed=" + seed);
    try (World world = new World(new Variant(), seed)) {
      world.run();
      assertThat(world.below).as("PENDING below a mark").isEmpty();
      assertThat(world.lost()).as("committed, but not delivered").isEmpty();
      assertThat(world.committed).isNotEmpty();
    }
  }

  @Test
  @DisplayName(
      "and a transaction that stays open, every message comes, and marks move and stay below")
  void besideOneThatStaysOpen() throws Exception {
    long seed = Long.getLong("outbox.seed", System.nanoTime());
    System.out.println("LateWritersTest: run again with -Doutbox.seed=" + seed);
    try (World world = new World(new Variant(), seed);
        Connection elsewhere = world.database.pool.getConnection();
        Statement statement = elsewhere.createStatement()) {
      elsewhere.setAutoCommit(false);
      boolean ignored = statement.execute("select pg_current_xact_id()");
      world.run();
      assertThat(world.database.query("select max(low_water_ahead) from outbox_bucket"))
          .as("a mark, beside the one that is open")
          .isNotEqualTo("0");
      assertThat(world.below).as("PENDING below a mark").isEmpty();
      assertThat(world.lost()).as("committed, but not delivered").isEmpty();
    }
  }

  @Test
  @DisplayName("messages would be lost if marks did not wait for them")
  void noticed() throws Exception {
    for (int seed = 0; seed < TRIES; seed++) {
      try (World world = new World(new WrongLowWaterMarks.NoHorizon(), seed)) {
        world.run();
        if (!world.lost().isEmpty()) {
          return;
        }
      }
    }
    fail("the wrong variant loses nothing: the writers are not late enough");
  }

  private static final class World implements AutoCloseable {
    private final Database database = new Database(server);
    private final List<VariantStore> stores = new ArrayList<>();
    private final long seed;
    private final boolean canPrepare;
    private final Set<String> committed = ConcurrentHashMap.newKeySet();
    private final Set<String> delivered = ConcurrentHashMap.newKeySet();
    private final Set<String> below = new TreeSet<>();
    private volatile boolean writing = true;

    World(Variant variant, long seed) {
      this.seed = seed;
      for (int i = 0; i < 2; i++) {
        stores.add(new VariantStore(database.pool, variant.of(VariantStore.right(Duration.ZERO))));
      }
      database.execute(PostgresOutboxStore.of(database.pool).ddl());
      canPrepare = !database.query("show max_prepared_transactions").equals("0");
    }

    void run() throws Exception {
      List<CompletableFuture<Void>> writers =
          IntStream.range(0, WRITERS).mapToObj(i -> background(() -> write(i))).toList();
      List<CompletableFuture<Void>> relays =
          IntStream.range(0, RELAYS)
              .mapToObj(i -> background(() -> new Relay(i).run(() -> writing)))
              .toList();
      CompletableFuture<Void> all = all(writers);
      while (!all.isDone()) {
        String now = database.query(MarkScript.BELOW);
        if (now != null) {
          below.add(now);
        }
      }
      writing = false;
      all.get();
      all(relays).get();
      Relay last = new Relay(RELAYS);
      last.run(
          () -> database.query("select max(seq) from outbox_message") != null && last.idle < 20);
    }

    Set<String> lost() {
      Set<String> lost = new TreeSet<>(committed);
      lost.removeAll(delivered);
      return lost;
    }

    private static CompletableFuture<Void> all(List<CompletableFuture<Void>> some) {
      return CompletableFuture.allOf(some.toArray(CompletableFuture[]::new));
    }

    private interface Work {
      void run() throws Exception;
    }

    private static CompletableFuture<Void> background(Work work) {
      return CompletableFuture.runAsync(
          () -> {
            try {
              work.run();
            } catch (Exception e) {
              throw new IllegalStateException(e);
            }
          },
          Background.THREADS);
    }

    private void write(int number) throws SQLException, IOException {
      Random random = new Random(seed + number);
      try (Connection connection = database.pool.getConnection()) {
        connection.setAutoCommit(false);
        for (int i = 0; i < TRANSACTIONS; i++) {
          Set<String> names = new Writer(connection, random, number + "-" + i).transaction();
          committed.addAll(names);
        }
      }
    }

    /** One transaction of a random kind. */
    private final class Writer {
      private final Connection connection;
      private final Random random;
      private final String name;
      private final Set<String> names = new HashSet<>();

      Writer(Connection connection, Random random, String name) {
        this.connection = connection;
        this.random = random;
        this.name = name;
      }

      /** Returns the names of the messages that it committed. */
      Set<String> transaction() throws SQLException, IOException {
        try (Statement statement = connection.createStatement()) {
          if (random.nextInt(3) == 0) {
            statement.execute("select pg_current_xact_id()");
            pause();
          }
          switch (random.nextInt(4)) {
            case 0 -> savepoint(statement);
            case 1 -> slowSelect(statement);
            case 2 -> copy();
            default -> insert(statement);
          }
          pause();
          end(statement);
        }
        return names;
      }

      private void end(Statement statement) throws SQLException {
        boolean commits = random.nextInt(5) > 0;
        if (canPrepare && random.nextInt(4) == 0) {
          String id = database.schema() + name;
          statement.execute("prepare transaction '%s'".formatted(id));
          pause();
          connection.setAutoCommit(true);
          statement.execute((commits ? "commit" : "rollback") + " prepared '" + id + "'");
          connection.setAutoCommit(false);
        } else if (commits) {
          connection.commit();
        } else {
          connection.rollback();
        }
        if (!commits) {
          names.clear();
        }
      }

      private void pause() {
        LockSupport.parkNanos(random.nextInt(4_000_000));
      }

      private String next() {
        String next = name + "-" + names.size();
        names.add(next);
        return next;
      }

      private String key() {
        return "k" + random.nextInt(KEYS);
      }

      private void insert(Statement statement) throws SQLException {
        for (int i = random.nextInt(3); i >= 0; i--) {
          statement.execute(
              "insert into %s values ('t', '%s', '%s', '')".formatted(COLUMNS, key(), next()));
          pause();
        }
      }

      private void savepoint(Statement statement) throws SQLException {
        insert(statement);
        Set<String> before = Set.copyOf(names);
        statement.execute("savepoint one");
        insert(statement);
        if (random.nextBoolean()) {
          statement.execute("rollback to savepoint one");
          names.retainAll(before);
        }
      }

      /** Draws its sequences one by one, with time between them. */
      private void slowSelect(Statement statement) throws SQLException {
        int rows = 1 + random.nextInt(4);
        statement.execute(
            """
            insert into %s select 't', '%s', '%s-' || i, ''
            from generate_series(0, %d) i, lateral (select pg_sleep(0.002 * (i + 1) / (i + 1))) s
            """
                .formatted(COLUMNS, key(), name, rows - 1));
        for (int i = 0; i < rows; i++) {
          next();
        }
      }

      private void copy() throws SQLException {
        CopyIn copy =
            connection
                .unwrap(PGConnection.class)
                .getCopyAPI()
                .copyIn("copy " + COLUMNS + " from stdin");
        for (int i = random.nextInt(3); i >= 0; i--) {
          byte[] row = "t\t%s\t%s\t\n".formatted(key(), next()).getBytes(StandardCharsets.UTF_8);
          copy.writeToCopy(row, 0, row.length);
          copy.flushCopy();
          pause();
        }
        long ignored = copy.endCopy();
      }
    }

    /** Claims, and delivers most of it. */
    private final class Relay {
      private final Random random;
      private final VariantStore store;
      private final String name;
      private volatile int idle;

      Relay(int number) {
        random = new Random(seed - 1 - number);
        store = stores.get(number % stores.size());
        name = "relay-" + number;
      }

      void run(BooleanSupplier goesOn) {
        while (goesOn.getAsBoolean()) {
          Claim claim = store.claim(request());
          idle = claim.messages().isEmpty() ? idle + 1 : 0;
          while (!claim.messages().isEmpty() && random.nextInt(8) > 0) {
            Map<Long, Decision> decisions = decisions(claim);
            Settled settled = store.settleAndClaim(claim, decisions, request());
            delivered(claim, decisions, settled.lost());
            claim = settled.next();
          }
          Map<Long, Decision> decisions = decisions(claim);
          delivered(claim, decisions, claim.settle(decisions));
        }
      }

      private Claim.Request request() {
        return new Claim.Request(name, 1 + random.nextInt(40), 1_000_000, Duration.ofMinutes(5));
      }

      private Map<Long, Decision> decisions(Claim claim) {
        Map<Long, Decision> decisions = new HashMap<>();
        for (StoredMessage message : claim.messages()) {
          int chance = random.nextInt(40);
          if (chance > 1) {
            decisions.put(message.sequence(), Decision.delivered());
          } else if (chance == 1) {
            decisions.put(message.sequence(), Decision.retryUncounted(Duration.ZERO, "once more"));
          }
        }
        return decisions;
      }

      private void delivered(Claim claim, Map<Long, Decision> decisions, Set<Long> lost) {
        for (StoredMessage message : claim.messages()) {
          if (decisions.get(message.sequence()) instanceof Decision.Delivered
              && !lost.contains(message.sequence())) {
            delivered.add(message.message().eventType());
          }
        }
      }
    }

    @Override
    public void close() {
      database.close();
    }
  }
}
