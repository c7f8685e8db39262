package dev.outbox.store.postgres;

import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.jdbc.Background;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Narrow cases that once went wrong, step by step. */
class NarrowCasesTest extends DatabaseTest {

  @Override
  protected void configure(HikariConfig config) {
    config.addDataSourceProperty("socketFactory", CountedSockets.class.getName());
  }

  /** Until a query that counts says one. */
  private void awaitOne(String count) {
    await().atMost(Duration.ofMinutes(1)).until(() -> database.query(count).equals("1"));
  }

  /**
   * The lease statement is held up after its snapshot was taken, until another has leased the same
   * bucket, failed its message and given it back.
   */
  @Test
  void keyThatWasBlockedWhileTheLeaseStatementRan() throws Exception {
    append("key", 3, 10);
    String role = "relay_" + database.schema();
    database.execute(
        """
        create role %1$s;
        grant usage on schema %2$s to %1$s;
        grant all on all tables in schema %2$s to %1$s;
        grant all on all sequences in schema %2$s to %1$s;
        create function gate() returns boolean language plpgsql volatile as
          'begin perform pg_advisory_xact_lock_shared(4711); return true; end';
        alter table outbox_message enable row level security;
        create policy gate on outbox_message using (gate());
        """
            .formatted(role, database.schema()));
    try (Connection gate = database.pool.getConnection();
        Statement close = gate.createStatement()) {
      PostgresOutboxStore slowStore =
          PostgresOutboxStore.of(RoleDataSource.of(database.pool, role));
      slowStore.verify();
      close.execute("select pg_advisory_lock(4711)");
      CompletableFuture<Claim> late =
          CompletableFuture.supplyAsync(() -> slowStore.claim(request(100)), Background.THREADS);
      awaitOne(
          "select count(*) from pg_locks where locktype = 'advisory' and not granted and objid = 4711");

      Claim first = store.claim(request(1));
      first.settle(
          Map.of(first.messages().get(0).sequence(), Decision.retry(Duration.ofHours(1), "no")));
      close.execute("select pg_advisory_unlock(4711)");

      assertThat(late.get(1, TimeUnit.MINUTES).messages())
          .as("messages behind the one that waits for its retry (O2)")
          .isEmpty();
    } finally {
      database.execute("drop owned by " + role + "; drop role " + role);
    }
  }

  /** As by a cancel: the row that the statement has seen is not the last one any more. */
  @Test
  void leaseThatIsRenewedWhileAnotherWritesItsBucketsRow() throws Exception {
    append("key", 2, 10);
    Claim claim = store.claim(request(100));
    try (Connection other = database.pool.getConnection();
        Statement write = other.createStatement()) {
      other.setAutoCommit(false);
      write.execute("update outbox_bucket set token = token");
      CompletableFuture<Set<Long>> renewed =
          CompletableFuture.supplyAsync(
              () -> claim.renew(Duration.ofMinutes(1)), Background.THREADS);
      awaitOne(
          "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%lease_until%'");
      other.commit();
      assertThat(renewed.get(1, TimeUnit.MINUTES)).as("renewed").hasSize(2);
    }
  }

  @Test
  void asManyLargeMessagesAtOnceAsTheBytesHaveRoomFor() {
    append("key", 10, 1_000);
    Claim.Request request = new Claim.Request("a", 100, 3_500, Duration.ofMinutes(1));
    assertThat(store.claim(request).messages()).hasSize(3);
  }

  /** What a claim reads is about what it may bring. */
  @Test
  void largeMessagesOfBlockedKeys() {
    int keys = 640;
    long max = 20_000;
    for (int i = 0; i < keys; i++) {
      append("key-" + i, 1, (int) max);
    }
    for (int failed = 0; failed < keys; ) {
      Claim claim = store.claim(request(1_000));
      assertThat(claim.settle(all(claim, Decision.retry(Duration.ZERO, "no")))).isEmpty();
      failed += claim.messages().size();
    }
    Claim.Request request = new Claim.Request("a", 500, max, Duration.ofMinutes(1));
    long read =
        CountedSockets.bytesRead(() -> assertThat(store.claim(request).messages()).isNotEmpty());
    // One message of each of 16 buckets, two bytes a byte while the statement is new.
    assertThat(read).as("bytes read for a claim of at most " + max).isLessThan(40 * max);
  }

  /** C6: what does not fit into the claim comes with one of the next, whatever others do. */
  @Test
  void largeMessagesInEveryBucket() {
    Map<String, Integer> waiting = new HashMap<>();
    for (int i = 0; i < 20; i++) {
      append("key-" + i, 1, 1_000);
      waiting.put("key-" + i, 0);
    }
    // As many claims as would serve every key ten times over.
    for (int i = 0; i < 200; i++) {
      Claim claim = store.claim(new Claim.Request("a", 8, 1_000, Duration.ofMinutes(1)));
      Map<Long, Decision> decisions = new HashMap<>();
      for (StoredMessage message : claim.messages()) {
        decisions.put(message.sequence(), Decision.delivered());
        waiting.merge(message.key(), 1, Integer::sum);
      }
      assertThat(claim.settle(decisions)).isEmpty();
      claim.messages().forEach(message -> append(message.key(), 1, 1_000));
    }
    assertThat(waiting.entrySet().stream().filter(e -> e.getValue() == 0).map(Map.Entry::getKey))
        .as("keys that never came in 200 claims")
        .isEmpty();
  }

  private static Claim.Request request(int most) {
    return new Claim.Request("a", most, 1L << 30, Duration.ofMinutes(1));
  }

  private void append(String key, int messages, int size) {
    List<OutboxMessage> list =
        Stream.generate(() -> of(key).partitionKey(key).payload(new byte[size]).build())
            .limit(messages)
            .toList();
    append(list);
  }
}
