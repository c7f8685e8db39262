package dev.outbox.store.jdbc;

import static dev.outbox.tck.internal.Decisions.all;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.core.internal.Holding;
import dev.outbox.store.core.internal.Holding.SeenBucket;
import dev.outbox.store.jdbc.internal.SqlDialect;
import dev.outbox.tck.internal.HoldingThread;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.SqlStatements;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A relay that shows that it lives")
public abstract class PresenceTests extends HoldingTests {
  protected static final Duration LEASE = Duration.ofMinutes(5);

  /** Before a pool gives up, in 30 s. */
  private static final Duration SOON = Duration.ofSeconds(15);

  private final List<Relay> relays = new ArrayList<>();

  protected PresenceTests(TestedStore tested) {
    super(tested);
  }

  protected abstract SqlDialect dialect();

  /** Whether the server began so long ago that nobody waits for those who come back. */
  protected abstract boolean isSettled();

  /** The sessions in which relays are seen, as the server names them. */
  protected abstract Set<Long> sessions();

  /** Ends a session, as an administrator does. */
  protected abstract void end(long session);

  /** How long a session may say nothing, as the store's statement sets it for a relay: shorter. */
  protected abstract String impatient(String sql);

  /** Asks a session who it is, and how long it may say nothing. */
  protected abstract String sessionQuery();

  /** How many of these sessions hold a snapshot. */
  protected abstract int snapshots(Set<Long> sessions);

  /** A relay in a process of its own, as far as the server can see. */
  protected final class Relay {
    private final HikariDataSource pool;
    public final Keeper keeper;
    public final AtomicInteger heard = new AtomicInteger();
    private final Thread holding;

    Relay(Duration unclaimed, int connections) {
      HikariConfig config = new HikariConfig();
      database.pool.copyStateTo(config);
      config.setMaximumPoolSize(connections);
      pool = new HikariDataSource(config);
      keeper = keeping(pool).keeper(unclaimed);
      holding = HoldingThread.start(keeper, heard::incrementAndGet);
      relays.add(this);
    }

    Claim claim() {
      return keeper.claim(new Claim.Request("worker", 10, 1_000_000, LEASE));
    }

    Claim awaitClaim() {
      return await().atMost(PATIENCE).until(this::claim, claim -> !claim.messages().isEmpty());
    }

    /** As SIGKILL does: nothing is given back, and the sockets are closed. */
    void kill() {
      holding.interrupt();
      join();
      pool.close();
    }

    private void join() {
      try {
        holding.join();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  @BeforeEach
  void prepare() {
    await().atMost(PATIENCE).until(this::isSettled);
  }

  @AfterEach
  void stop() {
    relays.forEach(Relay::kill);
  }

  protected final Holding<Handle> holding() {
    return requireNonNull(dialect().database().leases().holding());
  }

  /** A session for statements of the store. */
  protected final Handle handle() {
    Jdbi jdbi = Jdbi.create(database.pool);
    jdbi.getConfig(SqlStatements.class)
        .setTemplateEngine((sql, context) -> dialect().server().fill(sql));
    return jdbi.open();
  }

  protected final Relay relay() {
    int before = sessions().size();
    Relay relay = new Relay(PATIENCE, 4);
    await().atMost(PATIENCE).until(() -> sessions().size() > before);
    return relay;
  }

  protected final Relay relayThatHoldsAll() {
    Relay relay = relay();
    awaitHeld(relay.keeper, database);
    return relay;
  }

  private static List<Long> sequences(Claim claim) {
    return claim.messages().stream().map(StoredMessage::sequence).toList();
  }

  private static Set<Long> settle(Claim claim) {
    return claim.settle(Map.of(claim.messages().get(0).sequence(), Decision.delivered()));
  }

  @Test
  @DisplayName("is killed, and others have what it held long before its leases end")
  void killed() {
    Relay first = relayThatHoldsAll();
    Relay second = relay();
    append("k");
    Claim claim = first.awaitClaim();
    assertThat(second.claim().messages()).as("stands by").isEmpty();
    first.kill();
    Claim again = second.awaitClaim();
    assertThat(sequences(again)).isEqualTo(sequences(claim));
    assertThat(settle(again)).isEmpty();
  }

  @Test
  @DisplayName("is known to be well, also where its workers prolong what they claim (S6)")
  void isWell() {
    relayThatHoldsAll().kill();
    Relay next = relay();
    Claim.Request often = new Claim.Request("worker", 10, 1_000_000, Duration.ofSeconds(2));
    await()
        .atMost(PATIENCE)
        .until(
            () -> {
              append("k");
              Claim claim = next.keeper.claim(often);
              Set<Long> ignored = claim.settle(all(claim, Decision.delivered()));
              return database.query(
                  "select case when sum(token) >= 2 * 64 then sum(takeovers) end"
                      + " from outbox_bucket");
            },
            "0"::equals);
  }

  @Test
  @DisplayName("loses nothing while it lives, nor does one that shows nothing")
  void lives() {
    append("of another that shows nothing");
    Claim unshown = store.claim(new Claim.Request("worker", 10, 1_000_000, LEASE));
    assertThat(unshown.messages()).hasSize(1);
    Relay first = relayThatHoldsAll();
    append("k");
    Claim claim = first.awaitClaim();
    relay().claim();
    relay().kill();
    assertThat(settle(claim)).isEmpty();
    assertThat(settle(unshown)).isEmpty();
    await().atMost(PATIENCE).until(() -> held(database), "64"::equals);
  }

  @Test
  @DisplayName("has what it prolongs after its end, though another has seen that it was free")
  void prolonged() {
    append("k");
    Claim claim = store.claim(new Claim.Request("worker", 10, 1_000_000, LEASE));
    int bucket =
        Integer.parseInt(
            database.query("select bucket from outbox_bucket where claim_id is not null"));
    database.execute("update outbox_bucket set lease_until = leased_at where bucket = " + bucket);
    Holding<Handle> holding = holding();
    Claim.Request request = new Claim.Request("another", 10, 1_000_000, LEASE);
    try (Handle handle = handle()) {
      List<SeenBucket> free =
          holding.look(handle).buckets().stream().filter(SeenBucket::isFree).toList();
      assertThat(free).as("all of them").hasSize(64);
      assertThat(claim.renew(LEASE)).hasSize(1);
      assertThat(holding.take(handle, UUID.randomUUID(), request, free))
          .hasSize(63)
          .noneMatch(lease -> lease.bucket() == bucket);
    }
    assertThat(settle(claim)).isEmpty();
  }

  @Test
  @DisplayName("leaves, and another has all of it")
  void leaves() throws InterruptedException {
    Relay first = relayThatHoldsAll();
    Relay second = relay();
    assertThat(second.claim().messages()).isEmpty();
    first.keeper.leave(PATIENCE);
    append("k");
    Claim claim = second.awaitClaim();
    assertThat(first.claim().messages()).isEmpty();
    assertThat(settle(claim)).isEmpty();
    first.keeper.close();
  }

  @Test
  @DisplayName("comes back when somebody ends its session")
  void ended() {
    Relay relay = relay();
    Set<Long> before = sessions();
    assertThat(before).hasSize(1);
    before.forEach(this::end);
    await()
        .atMost(PATIENCE)
        .until(() -> sessions().stream().anyMatch(session -> !before.contains(session)));
    append("k");
    assertThat(settle(relay.awaitClaim())).isEmpty();
  }

  @Test
  @DisplayName("takes no connection of a pool that has few, and then its leases last")
  void smallPool() {
    Relay relay = new Relay(PATIENCE, 3);
    relay.join();
    append("k");
    relay.awaitClaim();
    assertThat(
            database.query(
                "select substr(cast(claim_id as char(36)), 15, 1) from outbox_bucket where claim_id is not null"))
        .isEqualTo("4");
  }

  @Test
  @DisplayName("leaves three of four connections of a pool to others, however many relays share it")
  void sharedPool() throws InterruptedException {
    HikariConfig config = new HikariConfig();
    database.pool.copyStateTo(config);
    config.setMaximumPoolSize(8);
    try (HikariDataSource pool = new HikariDataSource(config)) {
      List<Thread> two = List.of(holding(pool), holding(pool));
      awaitSessions(2);
      Set<Long> before = sessions();
      end(before.iterator().next());
      await() // it comes back
          .atMost(PATIENCE)
          .until(() -> sessions().size() == 2 && !sessions().equals(before));
      holding(pool).join(); // and a third one has no place
      two.get(0).interrupt();
      two.get(0).join();
      Thread next = holding(pool);
      awaitSessions(2);
      for (Thread thread : List.of(two.get(1), next)) {
        thread.interrupt();
        thread.join();
      }
    }
  }

  private Thread holding(DataSource pool) {
    return HoldingThread.start(keeping(pool).keeper(PATIENCE));
  }

  private void awaitSessions(int wanted) {
    await().atMost(PATIENCE).until(() -> sessions().size() == wanted);
  }

  /** Does something while the application has all connections but the session's. */
  private static void whileUsedUp(Relay relay, ThrowingCallable work) throws Throwable {
    try (Connection one = relay.pool.getConnection();
        Connection other = relay.pool.getConnection();
        Connection third = relay.pool.getConnection()) {
      work.call();
      assertThat(List.of(one, other, third)).as("in use").allMatch(PresenceTests::isOpen);
    }
  }

  @Test
  @DisplayName("gives its session's connection to a claim that waits for one")
  void usedUp() throws Throwable {
    Relay relay = relayThatHoldsAll();
    append("k");
    whileUsedUp(relay, () -> assertThat(settle(relay.claim())).isEmpty());
  }

  @Test
  @DisplayName("has no connection for its claims, and another has what it held")
  void usedUpForGood() throws Throwable {
    Relay first = relayThatHoldsAll();
    Relay second = relay();
    append("k");
    whileUsedUp(
        first,
        () -> {
          Background.THREADS.execute(
              () -> assertThatCode(first.pool::getConnection).doesNotThrowAnyException());
          awaitWaiting(first.pool, 1);
          Background.THREADS.execute(first::claim);
          awaitWaiting(first.pool, 2);
          assertThat(settle(second.awaitClaim())).isEmpty();
        });
  }

  @Test
  @DisplayName("leaves, and another has all of it, also where the pool has no connection left")
  void leavesUsedUp() throws Throwable {
    Relay first = relayThatHoldsAll();
    Relay second = relay();
    whileUsedUp(
        first,
        () -> {
          first.keeper.leave(SOON);
          append("k");
          Claim claim = await().atMost(SOON).until(second::claim, c -> !c.messages().isEmpty());
          assertThat(settle(claim)).isEmpty();
        });
  }

  private static void awaitWaiting(HikariDataSource pool, int threads) {
    await()
        .atMost(PATIENCE)
        .until(() -> pool.getHikariPoolMXBean().getThreadsAwaitingConnection() == threads);
  }

  private static boolean isOpen(Connection connection) {
    try {
      return connection.isValid(1);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  @DisplayName("is not seen any more when its host has vanished, and says nothing")
  void vanished() {
    CompletableFuture<Void> vanished = new CompletableFuture<>();
    CompletableFuture<Void> comesBack = new CompletableFuture<>();
    DataSource ofHost =
        Intercepted.rewriting(
            database.pool,
            sql -> {
              if (vanished.isDone()
                  && Thread.currentThread().getName().equals(HoldingThread.NAME)) {
                comesBack.join();
              }
              return impatient(sql);
            });
    try (Keeper keeper = keeperOfAll(keeping(ofHost), database, LEASE)) {
      assertThat(sessions()).hasSize(1);
      vanished.complete(null);
      await().atMost(PATIENCE).until(() -> sessions().isEmpty());
      assertThat(held(database)).as("its leases last").isEqualTo("64");
    } finally {
      comesBack.complete(null);
    }
  }

  @Test
  @DisplayName("gives its session back as it was")
  void givesBack() throws InterruptedException {
    TestDatabase one = database.withOneConnection();
    String before = one.query(sessionQuery());
    try (Keeper keeper = keeping(heldApart(database.pool, one.pool)).keeper(LEASE)) {
      Thread holding = HoldingThread.start(keeper);
      awaitHeld(keeper, database);
      holding.interrupt();
      holding.join();
      assertThat(one.query(sessionQuery())).isEqualTo(before);
    } finally {
      one.pool.close();
    }
  }

  @Test
  @DisplayName("leaves no session behind, and holds no snapshot")
  void leavesNothing() {
    Relay relay = relay();
    assertThat(snapshots(sessions())).isZero();
    relay.holding.interrupt();
    relay.join();
    await().atMost(PATIENCE).until(() -> sessions().isEmpty());
  }
}
