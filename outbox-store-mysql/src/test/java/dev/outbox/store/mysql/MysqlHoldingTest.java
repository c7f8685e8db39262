package dev.outbox.store.mysql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.KeepingStore;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.jdbc.HoldingTests;
import dev.outbox.store.jdbc.Intercepted;
import dev.outbox.store.jdbc.TestDatabase;
import dev.outbox.tck.internal.HoldingThread;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource
@DisplayName("A relay holds on MySQL and MariaDB")
class MysqlHoldingTest extends HoldingTests {
  private static final Duration LONG = Duration.ofMinutes(5);

  private final Flavor flavor;

  MysqlHoldingTest(Tested tested) {
    super(tested);
    flavor = tested.flavor;
  }

  @Test
  @DisplayName("and sees nothing that is not committed, whatever level the pool has set")
  void readUncommitted() throws SQLException {
    HikariConfig config = new HikariConfig();
    database.pool.copyStateTo(config);
    config.setConnectionInitSql("set session " + flavor.isolation + " = 'READ-UNCOMMITTED'");
    try (HikariDataSource pool = new HikariDataSource(config);
        Keeper keeper = keeperOfAll(keeping(pool), database, LONG);
        Connection producer = database.pool.getConnection()) {
      producer.setAutoCommit(false);
      store.append(producer, message());
      for (int i = 0; i < 10; i++) {
        assertThat(keeper.claim(ofWorker()).messages()).isEmpty();
      }
      producer.commit();
      deliverOne(keeper);
    }
  }

  @Test
  @DisplayName("nothing where its lock is not found by the statement after the one that took it")
  void proxied() throws InterruptedException {
    holdsNothing(sql -> sql.replaceAll("is_used_lock\\('[^']*'\\) = connection_id\\(\\)", "false"));
  }

  @Test
  @DisplayName("nothing in a cluster, where a lock is one server's, and finds it worth a sentence")
  void cluster() throws InterruptedException {
    UnaryOperator<String> cluster = sql -> sql.replace("'wsrep_on'", "'autocommit'"); // which is ON
    holdsNothing(cluster);
    assertThat(builder(Intercepted.rewriting(database.pool, cluster)).build().findings())
        .filteredOn(finding -> finding.what().equals("cluster"))
        .singleElement()
        .matches(Finding::isFine)
        .extracting(Finding::sentence)
        .asString()
        .startsWith("autocommit is ON: ");
    assertThat(store.findings()).noneMatch(finding -> finding.what().equals("cluster"));
  }

  private void holdsNothing(UnaryOperator<String> change) throws InterruptedException {
    try (Keeper keeper = keeping(Intercepted.rewriting(database.pool, change)).keeper(LONG)) {
      HoldingThread.start(keeper).join();
      append("k");
      deliverOne(keeper);
      assertThat(held(database)).isEqualTo("0");
    }
  }

  @Test
  @DisplayName("and reads by locking where another server answers than the one that it is seen on")
  void elsewhere() {
    AtomicBoolean elsewhere = new AtomicBoolean();
    KeepingStore<Connection> keeping =
        keeping(
            Intercepted.rewriting(
                database.pool,
                sql ->
                    elsewhere.get()
                        ? sql.replaceAll(
                            "is_used_lock\\('[^']*'\\) is not null as seen", "false as seen")
                        : sql));
    try (Keeper keeper = keeperOfAll(keeping, database, LONG)) {
      append("k");
      deliverOne(keeper);
      elsewhere.set(true);
      append("k");
      deliverOne(keeper);
      assertThat(held(database)).isEqualTo("64");
    }
  }

  @Test
  @DisplayName("and ends its last session, which the server has not missed yet")
  void comesBack() throws SQLException {
    Connection last = database.pool.getConnection();
    try (Connection next = database.pool.getConnection()) {
      assertThat(show(last, 16)).isTrue();
      assertThat(show(next, 17)).as("of the same number").isTrue();
      assertThat(last.isValid(5)).isFalse();
    } finally {
      database.pool.evictConnection(last);
    }
  }

  private boolean show(Connection connection, int code) {
    MysqlText text = new MysqlText(new PrefixedNames(null, PrefixedNames.DEFAULT_PREFIX), flavor);
    return new RelayLocks(text).show(Jdbi.open(connection), code);
  }

  @Test
  @DisplayName(
      "with one statement where there is nothing, and with a binary log no lease is prolonged")
  void statements() {
    Map<String, String> settings = Map.of("log_bin", "on", "server_id", "1", "sync_binlog", "1");
    try (DatabaseServer server =
            flavor == Flavor.MYSQL
                ? DatabaseServer.mysql(settings)
                : DatabaseServer.mariadb(settings);
        Database logged = new Database(server)) {
      builder(logged.pool).build().migrate();
      TestDatabase one = logged.withOneConnection();
      KeepingStore<Connection> keeping = keeping(heldApart(one.pool, logged.pool));
      try (Keeper keeper = keeperOfAll(keeping, logged, LONG)) {
        await() // what was taken is with the workers a moment later
            .atMost(PATIENCE)
            .until(() -> questions(one, () -> keeper.claim(ofWorker())), asked -> asked == 1);
        append(logged, keeping, "k");
        assertThat(questions(one, () -> deliverOne(keeper))).isLessThanOrEqualTo(10);
      } finally {
        one.pool.close();
      }
    }
  }

  /** What the session of a pool with one connection was asked meanwhile. */
  private static long questions(TestDatabase session, Runnable work) {
    long before = questions(session);
    work.run();
    return questions(session) - before - 1;
  }

  private static long questions(TestDatabase session) {
    try (Connection connection = session.pool.getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("show session status like 'Questions'")) {
      row.next();
      return row.getLong(2);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
