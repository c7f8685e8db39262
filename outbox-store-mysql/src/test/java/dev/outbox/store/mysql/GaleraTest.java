package dev.outbox.store.mysql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.store.jdbc.Background;
import dev.outbox.store.jdbc.HoldingTests;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.jdbc.TestDatabase;
import dev.outbox.tck.internal.HoldingThread;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("With the outbox in a cluster of three nodes")
class GaleraTest extends HoldingTests {
  private Database other;
  private JdbcOutboxStore there;

  GaleraTest() {
    super(new Galera());
  }

  @BeforeEach
  void prepare() throws SQLException {
    other = ((Database) database).on(Galera.nodes().get(1));
    catchUp();
    there = builder(other.pool).build();
    there.verify();
  }

  @AfterEach
  void close() {
    other.pool.close();
  }

  @Test
  @DisplayName("no relay holds buckets, and all is fine while one node is written to")
  void oneWriter() throws InterruptedException {
    try (Keeper keeper = keeping(database.pool).keeper(PATIENCE)) {
      Thread holding = HoldingThread.start(keeper);
      holding.join(PATIENCE.toMillis());
      assertThat(holding.isAlive()).isFalse();
    }
    assertThat(store.statistics(10).relays()).as("relays, which cannot be seen").isNull();
    List<UUID> ids = appended(4);
    assertThat(cluster())
        .matches(Finding::isFine)
        .extracting(Finding::text)
        .asString()
        .startsWith("wsrep_on is ON: ");
    assertThat(delivered(4)).isEqualTo(ids);
  }

  @Test
  @DisplayName("a key that is appended by two nodes loses its order, and findings warn")
  void loses() throws Exception {
    List<UUID> ids;
    try (Connection producer = other.pool.getConnection()) {
      producer.setAutoCommit(false);
      try (AutoCloseable behind = behind()) {
        ids = appended(4);
        ids.add(appended(producer));
      }
      producer.commit();
    }
    await()
        .atMost(PATIENCE) // until the first node has it
        .until(() -> database.query("select count(*) from outbox_message").equals("5"));
    assertThat(cluster())
        .extracting(Finding::severity, Finding::text)
        .containsExactly(
            Finding.Severity.WARNING,
            "wsrep_on is ON, and what waits came in by 2 servers in the last minute, so"
                + " keys may lose their order: let all producers, relays and operators write to one server");
    assertThat(delivered(5)).containsExactlyInAnyOrderElementsOf(ids).isNotEqualTo(ids);
  }

  @Test
  @DisplayName("it keeps its order where the second node's producer waits for what the first wrote")
  void waits() throws Exception {
    List<UUID> ids;
    CompletableFuture<UUID> last;
    try (AutoCloseable behind = behind()) {
      ids = appended(4);
      last =
          inBackground(
              () -> {
                try (Connection producer = other.pool.getConnection()) {
                  TestDatabase.execute(producer, "set wsrep_sync_wait = 4");
                  producer.setAutoCommit(false);
                  UUID id = appended(producer);
                  producer.commit();
                  return id;
                }
              });
      awaitThere("info like 'insert into %'");
    }
    ids.add(last.get(1, TimeUnit.MINUTES));
    assertThat(delivered(5)).isEqualTo(ids);
  }

  @Test
  @DisplayName("one of two relays that lease a bucket by two nodes at once has it")
  void leases() throws Exception {
    List<UUID> ids = appended(1);
    catchUp();
    Claim claim;
    CompletableFuture<Claim> late;
    try (AutoCloseable behind = behind()) {
      claim = store.claim(request());
      late = inBackground(() -> there.claim(request()));
      awaitThere("state = 'Waiting for certification'");
    }
    assertThat(claim.messages()).extracting(m -> m.message().id()).isEqualTo(ids);
    assertThat(late.get(1, TimeUnit.MINUTES).messages()).isEmpty();
  }

  private Finding cluster() {
    return store.findings().stream()
        .filter(finding -> finding.what().equals("cluster"))
        .findFirst()
        .orElseThrow();
  }

  /** Until the other node has all that was committed before. */
  private void catchUp() throws SQLException {
    try (Connection connection = other.pool.getConnection()) {
      TestDatabase.execute(
          connection,
          "set wsrep_sync_wait = 1",
          "select 1 from outbox_schema",
          "set wsrep_sync_wait = 0");
    }
  }

  /** Lets the other node fall behind until it is closed, as a backup does. */
  private AutoCloseable behind() throws SQLException {
    Connection backup = other.pool.getConnection();
    TestDatabase.execute(backup, "backup stage start", "backup stage block_commit");
    return () -> {
      try (backup) {
        TestDatabase.execute(backup, "backup stage end");
      }
    };
  }

  /** Until a session of the other node is there. */
  private void awaitThere(String condition) {
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                other.query(
                    "select count(*) from information_schema.processlist"
                        + " where id <> connection_id() and db = database() and "
                        + condition),
            "1"::equals);
  }

  private static <T> CompletableFuture<T> inBackground(Callable<T> task) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return task.call();
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        },
        Background.THREADS);
  }

  /** One after the other, each in a transaction of its own. */
  private List<UUID> appended(int messages) {
    List<UUID> ids = new ArrayList<>();
    for (int i = 0; i < messages; i++) {
      database.inTransaction(false, c -> ids.add(appended(c)));
    }
    return ids;
  }

  private UUID appended(Connection transaction) {
    OutboxMessage message = message();
    store.append(transaction, message);
    return message.id();
  }

  /** Delivers so many, in the order in which a claim has them. */
  private List<UUID> delivered(int messages) {
    await()
        .atMost(PATIENCE)
        .until(
            () -> database.query("select count(*) from outbox_message"),
            Integer.toString(messages)::equals);
    return delivered().stream().map(OutboxMessage::id).toList();
  }
}
