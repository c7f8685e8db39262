package dev.outbox.store.postgres;

import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.awaitility.Awaitility.await;

import dev.outbox.embedded.DatabaseServer;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The producers of one key, and so of one bucket, and a relay, step by step. A script that a wrong
 * variant fails, and the store passes: nothing PENDING is ever below the bucket's mark, everything
 * is delivered, and the mark moves past it.
 */
final class MarkScript implements AutoCloseable {

  /**
   * Other sessions of the server, autovacuum for one, draw transaction ids too. One at the right
   * moment may save a wrong variant.
   */
  private static final int TRIES = 5;

  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private static final String INSERT =
      """
      insert into outbox_message (aggregate_type, aggregate_id, event_type, payload)
      values ('order', 'key', 'changed', '') returning seq
      """;

  /** What is PENDING and will not be read, or null. */
  static final String BELOW =
      """
      select string_agg(m.seq || ' is below ' || b.low_water || ', ' || b.low_water_ahead, ', ')
      from outbox_message m join outbox_bucket b on b.bucket = m.bucket
      where m.status = 'PENDING' and (m.seq < b.low_water
        or m.seq < b.low_water_ahead and b.ahead_of is not null and not exists (
          select from unnest(b.ahead_of) x
          where pg_visible_in_snapshot(x::text::xid8, pg_current_snapshot())))
      """;

  interface Steps {
    void run(MarkScript script) throws Exception;
  }

  private final Database database;
  private final VariantStore store;
  private final Hooks hooks = new Hooks();
  private final Set<Long> appended = new HashSet<>();
  private final Set<Long> delivered = new HashSet<>();
  private final List<AutoCloseable> open = new ArrayList<>();

  private MarkScript(DatabaseServer server, Variant variant) {
    database = new Database(server);
    store =
        new VariantStore(database.pool, variant.of(hooks.of(VariantStore.right(Duration.ZERO))));
    database.execute(PostgresOutboxStore.of(database.pool).ddl());
  }

  /** Passes with the store as it is, and fails with the variant. */
  static void run(DatabaseServer server, Steps steps, Supplier<Variant> wrong) throws Exception {
    try (MarkScript script = new MarkScript(server, new Variant())) {
      script.moveMark();
      steps.run(script);
      script.assertNothingIsLost();
    }
    for (int i = 0; i < TRIES; i++) {
      try (MarkScript script = new MarkScript(server, wrong.get())) {
        script.moveMark();
        steps.run(script);
        if (script.lost()) {
          return;
        }
      }
    }
    fail("the wrong variant loses nothing: the script cannot tell it from the right one");
  }

  // ---- judging

  /** Appends and delivers until the mark is past all that was appended before. */
  void moveMark() {
    moveBeyond(append(), "max(low_water)");
  }

  /** Appends and delivers until reading begins behind a message that is not committed yet. */
  void moveAhead(long open) {
    moveBeyond(open, "max(low_water_ahead)");
    assertThat(mark()).isLessThanOrEqualTo(open);
  }

  private void moveBeyond(long sequence, String mark) {
    await()
        .atMost(PATIENCE)
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(5))
        .untilAsserted(
            () -> {
              append();
              deliver(10);
              assertThat(number(mark)).isGreaterThan(sequence);
            });
  }

  /** Claims and delivers nothing, until all that is committed is certified beside who is open. */
  void certifyBeside() {
    for (int i = 0; i < 4; i++) {
      assertThat(claim(10).settle(Map.of())).isEmpty();
    }
  }

  private void assertNothingIsLost() {
    assertThat(below()).as("PENDING below the mark").isNull();
    moveMark();
    assertThat(below()).as("PENDING below the mark").isNull();
    assertThat(delivered).as("delivered").containsExactlyInAnyOrderElementsOf(appended);
  }

  /** Whether a message is not found whatever comes: it is below the mark, or gone. */
  private boolean lost() {
    for (int i = 0; i < 3; i++) {
      append();
      deliver(10);
    }
    return !delivered.containsAll(appended);
  }

  private String below() {
    return database.query(BELOW);
  }

  private long mark() {
    return number("max(low_water)");
  }

  private long number(String ofBuckets) {
    return Long.parseLong(database.query("select " + ofBuckets + " from outbox_bucket"));
  }

  // ---- the relay's steps

  Claim claim(int most) {
    return store.claim(request(most));
  }

  void deliver(Claim claim) {
    Map<Long, Decision> decisions = all(claim, Decision.delivered());
    assertThat(claim.settle(decisions)).isEmpty();
    delivered.addAll(decisions.keySet());
  }

  /** Claims, delivers and lets go. */
  void deliver(int most) {
    deliver(claim(most));
  }

  /** Appends and makes a dead letter of it. */
  long appendAndBury() {
    long sequence = append();
    Claim claim = claim(10);
    assertThat(claim.messages()).extracting(StoredMessage::sequence).containsExactly(sequence);
    assertThat(claim.settle(Map.of(sequence, Decision.dead("buried")))).isEmpty();
    return sequence;
  }

  void requeue(long sequence) {
    assertThat(store.requeue(sequence)).isTrue();
  }

  private static Claim.Request request(int most) {
    return new Claim.Request("relay", most, 1_000_000, Duration.ofMinutes(5));
  }

  /** Somebody deletes a message by hand. */
  void delete(long sequence) {
    database.execute("delete from outbox_message where seq = " + sequence);
  }

  /** Once, when the next lease is about to begin, which is the first of its transaction. */
  void beforeLease(Runnable step) {
    hooks.beforeLease = step;
  }

  /** Once, when the next read of PENDING messages is about to begin. */
  void beforeRead(Runnable step) {
    hooks.beforeRead = step;
  }

  /** Once, when the next read of PENDING messages has its rows. */
  void afterRead(Runnable step) {
    hooks.afterRead = step;
  }

  // ---- the producers' steps

  /** Appends a message in a transaction of its own; returns its sequence. */
  long append() {
    Producer producer = producer();
    long sequence = producer.insert();
    producer.commit();
    return sequence;
  }

  /** A transaction that has not done anything yet. */
  Producer producer() {
    Producer producer = new Producer();
    open.add(producer);
    return producer;
  }

  final class Producer implements AutoCloseable {
    private final Connection connection;
    private final List<Long> inserted = new ArrayList<>();

    Producer() {
      try {
        connection = database.pool.getConnection();
        connection.setAutoCommit(false);
      } catch (SQLException e) {
        throw new IllegalStateException(e);
      }
    }

    private long query(String sql) {
      try (Statement statement = connection.createStatement();
          ResultSet rows = statement.executeQuery(sql)) {
        rows.next();
        return rows.getLong(1);
      } catch (SQLException e) {
        throw new IllegalStateException(e);
      }
    }

    long insert() {
      long sequence = query(INSERT);
      inserted.add(sequence);
      return sequence;
    }

    void commit() {
      try {
        connection.commit();
        connection.close();
        appended.addAll(inserted);
      } catch (SQLException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public void close() throws SQLException {
      if (!connection.isClosed()) {
        connection.rollback();
        connection.close();
      }
    }
  }

  @Override
  public void close() throws Exception {
    for (int i = open.size(); i > 0; i--) {
      open.get(i - 1).close();
    }
    database.close();
  }
}
