package dev.outbox.store.mysql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.store.core.BucketStore;
import dev.outbox.store.jdbc.DatabaseTests;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.jdbc.Stalling;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** C3: nobody waits for anybody. Counted by the server, which counts every wait for a row. */
@ParameterizedClass
@EnumSource
@DisplayName("Nobody waits")
class MysqlLocksTest extends DatabaseTests {
  private static final Decision AGAIN = Decision.retry(Duration.ofHours(1), "again");

  private final List<AutoCloseable> open = new ArrayList<>();
  private Stalling stalling;
  private JdbcOutboxStore stallingStore;
  private long waitsBefore;

  MysqlLocksTest(Tested tested) {
    super(tested);
  }

  @BeforeEach
  void prepare() {
    stalling = new Stalling(database.pool);
    stallingStore = builder(stalling.dataSource()).build();
    stallingStore.verify();
    waitsBefore = waits();
  }

  @AfterEach
  void letGo() throws Exception {
    for (AutoCloseable some : open) {
      some.close();
    }
  }

  private long waits() {
    return Long.parseLong(
        database.query(
            "select variable_value from %s.global_status where variable_name = 'Innodb_row_lock_waits'"
                .formatted(
                    tested() == Tested.MYSQL ? "performance_schema" : "information_schema")));
  }

  private void assertNobodyWaited(String where) {
    assertThat(waits() - waitsBefore).as("waits for rows, " + where).isZero();
  }

  @Test
  @DisplayName("without being counted")
  void waitsAreCounted() throws SQLException {
    committed(List.of("key"));
    try (Connection holder = producer();
        Statement lock = holder.createStatement();
        Connection other = producer();
        Statement wait = other.createStatement()) {
      String sql = "select seq from outbox_message where seq > 0 for update";
      lock.execute(sql);
      assertThatThrownBy(() -> wait.execute(sql)).isInstanceOf(SQLException.class);
      holder.rollback();
      other.rollback();
    }
    assertThat(waits()).isEqualTo(waitsBefore + 1);
  }

  /** A key of each bucket. */
  private static List<String> keys(String prefix) {
    String[] keys = new String[BucketStore.BUCKETS];
    for (int found = 0, n = 0; found < keys.length; n++) {
      CRC32 crc = new CRC32();
      crc.update((prefix + n).getBytes(StandardCharsets.UTF_8));
      int bucket = (int) (crc.getValue() & 63);
      if (keys[bucket] == null) {
        keys[bucket] = prefix + n;
        found++;
      }
    }
    return List.of(keys);
  }

  private static List<OutboxMessage> messages(List<String> keys) {
    return keys.stream().map(MysqlLocksTest::of).map(OutboxMessage.Builder::build).toList();
  }

  private void committed(List<String> keys) {
    append(messages(keys));
  }

  /** A producer's transaction, at MySQL's default isolation level. */
  private Connection producer() throws SQLException {
    Connection connection = database.pool.getConnection();
    connection.setAutoCommit(false);
    connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
    try (Statement statement = connection.createStatement()) {
      statement.execute("set innodb_lock_wait_timeout = 1");
    }
    return connection;
  }

  /** Appends to every bucket: to keys that are there and to new ones, at once and later. */
  private void produce(String name) throws SQLException {
    try (Connection producer = producer()) {
      store.append(producer, messages(keys("key ")));
      store.append(producer, messages(keys(name)));
      store.append(
          producer,
          keys("key ").stream().map(k -> of(k).deliverAfter(Duration.ofHours(1)).build()).toList());
      store.append(
          producer, keys(name).stream().map(k -> of(k).dedupKey(name + k).build()).toList());
      producer.commit();
    }
  }

  private static Claim.Request request(int messages) {
    return new Claim.Request("test", messages, 10_000_000, Duration.ofMinutes(5));
  }

  /** Claims until nothing is left. */
  private List<Claim> claims(JdbcOutboxStore by) {
    List<Claim> claims = new ArrayList<>();
    Claim claim;
    while (!(claim = by.claim(request(1_000))).messages().isEmpty()) {
      claims.add(claim);
    }
    return claims;
  }

  /** Stops claims, each at the same statement, until one finds nothing. */
  private int stopClaims(String at) {
    int before = open.size();
    try {
      while (true) {
        open.add(stalling.stopAt(at, () -> stallingStore.claim(request(1_000))));
      }
    } catch (IllegalStateException foundNothing) {
      return open.size() - before;
    }
  }

  @Test
  @DisplayName("who appends while claims have locked all buckets")
  void appendDuringClaims() throws Exception {
    committed(keys("key "));
    assertThat(stopClaims("as horizon")).isGreaterThan(3);
    assertThat(store.claim(request(1_000)).messages()).as("what is left to claim").isEmpty();
    produce("new ");
    assertNobodyWaited("while claims have locked all buckets");
  }

  @Test
  @DisplayName("who appends while claims have moved messages aside")
  void appendDuringMoves() throws Exception {
    for (int i = 0; i < 3; i++) {
      committed(keys("key "));
    }
    for (Claim claim : claims(store)) {
      assertThat(claim.settle(inTurn(claim, AGAIN))).isEmpty();
    }
    for (int i = 0; i < 3; i++) {
      committed(keys("key "));
    }
    assertThat(stopClaims("set low_seq")).isGreaterThan(3);
    produce("new ");
    assertNobodyWaited("while claims have moved messages");
  }

  @Test
  @DisplayName("who appends while settles have deleted and changed messages, before and after")
  void appendDuringSettles() throws Exception {
    for (int round = 0; round < 3; round++) {
      committed(keys("key "));
      committed(keys("other "));
      committed(keys("key "));
      List<Claim> claims = claims(stallingStore);
      assertThat(claims.stream().mapToInt(c -> c.messages().size()).sum())
          .isGreaterThanOrEqualTo(3 * BucketStore.BUCKETS);
      for (Claim claim : claims) {
        Map<Long, Decision> decisions =
            round == 0
                ? inTurn(claim, Decision.delivered())
                : inTurn(
                    claim,
                    Decision.delivered(),
                    AGAIN,
                    round % 2 == 0 ? Decision.deadHaltingKey("no") : Decision.dead("no"));
        open.add(stalling.stopAt("claim_id = null", () -> claim.settle(decisions)));
      }
      produce("new " + round + " ");
      assertNobodyWaited("while settles have locked all buckets, round " + round);
      letGo();
      open.clear();
      produce("newer " + round + " ");
      assertNobodyWaited("after these settles, round " + round);
    }
  }

  @Test
  @DisplayName("a relay, for producers that have not committed")
  void relayBetweenOpenProducers() throws Exception {
    List<Connection> producers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Connection producer = producer();
      producers.add(producer);
      store.append(producer, messages(keys("key ")));
      store.append(
          producer,
          List.of(of("key").dedupKey("dedup " + i).build(), of("key").dedupKey("d " + i).build()));
      committed(keys("key "));
      database.execute(
          "insert into outbox_dedup (dedup_key, created_at) values ('dedup %d5', utc_timestamp(6) - interval 9 day)"
              .formatted(i));
    }
    for (Connection producer : producers) {
      store.append(producer, messages(keys("key ")));
    }
    List<Claim> claims = claims(store);
    assertThat(claims.stream().mapToInt(c -> c.messages().size()).sum())
        .isEqualTo(4 * BucketStore.BUCKETS);
    for (Claim claim : claims) {
      assertThat(claim.renew(Duration.ofMinutes(6))).hasSameSizeAs(claim.messages());
      assertThat(
              claim.settle(
                  inTurn(
                      claim,
                      Decision.delivered(),
                      AGAIN,
                      Decision.dead("no"),
                      Decision.delivered(),
                      Decision.deadHaltingKey("no"))))
          .isEmpty();
    }
    database.execute("update outbox_blocked_key set retry_at = utc_timestamp(6)");
    committed(keys("key "));
    for (Claim claim : claims(store)) {
      assertThat(claim.settle(inTurn(claim, Decision.delivered()))).isEmpty();
    }
    for (var dead : store.deadLetters(0, 1_000)) {
      long sequence = dead.message().sequence();
      assertThat(sequence % 2 == 0 ? store.requeue(sequence) : store.discard(sequence)).isTrue();
    }
    for (Claim claim : claims(store)) {
      assertThat(claim.settle(inTurn(claim, Decision.delivered()))).isEmpty();
    }
    store.housekeep();
    assertThat(database.query("select count(*) from outbox_dedup where dedup_key like 'dedup _5'"))
        .isEqualTo("0");
    assertNobodyWaited("while producers are open");
    for (Connection producer : producers) {
      producer.commit();
      producer.close();
    }
    assertThat(claims(store).stream().mapToInt(c -> c.messages().size()).sum())
        .as("late commits")
        .isPositive();
  }

  private Set<Integer> buckets(Claim claim) {
    return claim.messages().stream()
        .map(m -> "select bucket from outbox_message where seq = " + m.sequence())
        .map(sql -> Integer.parseInt(database.query(sql)))
        .collect(Collectors.toCollection(HashSet::new));
  }

  @Test
  @DisplayName("a claim, for another that has just locked its buckets; also when each takes one")
  void twoClaims() {
    committed(keys("key "));
    for (int messages : List.of(1, 100)) {
      open.add(stalling.stopAt("as horizon", () -> stallingStore.claim(request(messages))));
      Claim second = store.claim(request(messages));
      assertThat(buckets(second)).as("buckets of the second").isNotEmpty();
      Claim third = store.claim(request(messages));
      assertThat(buckets(third)).isNotEmpty().doesNotContainAnyElementsOf(buckets(second));
    }
    assertNobodyWaited("beside a claim that has locked its buckets");
  }

  @Test
  @DisplayName("a settle, for other settles whose buckets lie between")
  void twoSettles() {
    committed(keys("key "));
    // So that what one claim takes lies among what the others take.
    database.execute(
        "update outbox_bucket set served_at = served_at + interval (bucket * 37) % 64 second");
    List<Claim> claims =
        IntStream.range(0, 12).mapToObj(i -> stallingStore.claim(request(3))).toList();
    for (int i = 0; i < claims.size(); i += 2) {
      Claim claim = claims.get(i);
      assertThat(claim.messages()).isNotEmpty();
      open.add(
          stalling.stopAt(
              "claim_id = null", () -> claim.settle(inTurn(claim, Decision.delivered()))));
    }
    for (int i = 1; i < claims.size(); i += 2) {
      Claim claim = claims.get(i);
      assertThat(claim.messages()).isNotEmpty();
      assertThat(claim.renew(Duration.ofMinutes(6))).hasSameSizeAs(claim.messages());
      assertThat(claim.settle(inTurn(claim, Decision.delivered(), AGAIN))).isEmpty();
    }
    assertNobodyWaited("between settles");
  }
}
