package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.alibaba.druid.pool.DruidDataSource;
import com.mchange.v2.c3p0.ComboPooledDataSource;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.relay.Relay;
import dev.outbox.spi.publisher.Result;
import dev.outbox.store.jdbc.DatabaseTests;
import dev.outbox.store.jdbc.Intercepted;
import io.agroal.api.AgroalDataSource;
import io.agroal.api.configuration.supplier.AgroalDataSourceConfigurationSupplier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.apache.commons.dbcp2.BasicDataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;
import org.vibur.dbcp.ViburDBCPDataSource;

@DisplayName("The limit of a pool")
class PoolsTest extends DatabaseTests {
  private static final int MOST = 7;

  PoolsTest() {
    super(new Postgres());
  }

  /** One of each type that is known, before it has a connection. */
  private static Stream<DataSource> pools() throws SQLException {
    HikariDataSource hikari = new HikariDataSource();
    hikari.setMaximumPoolSize(MOST);
    var tomcat = new org.apache.tomcat.jdbc.pool.DataSource();
    tomcat.setMaxActive(MOST);
    var tomcatDbcp = new org.apache.tomcat.dbcp.dbcp2.BasicDataSource();
    tomcatDbcp.setMaxTotal(MOST);
    AgroalDataSource agroal =
        AgroalDataSource.from(
            new AgroalDataSourceConfigurationSupplier()
                .connectionPoolConfiguration(
                    pool ->
                        pool.maxSize(MOST)
                            .connectionFactoryConfiguration(
                                factory ->
                                    factory.connectionProviderClass(PGSimpleDataSource.class))));
    ComboPooledDataSource c3p0 = new ComboPooledDataSource();
    c3p0.setMaxPoolSize(MOST);
    ViburDBCPDataSource vibur = new ViburDBCPDataSource();
    vibur.setPoolMaxSize(MOST);
    DruidDataSource druid = new DruidDataSource();
    druid.setMaxActive(MOST);
    return Stream.of(hikari, tomcat, tomcatDbcp, dbcp(MOST), agroal, c3p0, vibur, druid);
  }

  private static BasicDataSource dbcp(int most) {
    BasicDataSource dbcp = new BasicDataSource();
    dbcp.setMaxTotal(most);
    return dbcp;
  }

  private static OptionalInt limit(DataSource pool) {
    return PostgresOutboxStore.of(pool).maxConnections();
  }

  @Test
  @DisplayName("is known")
  void known() throws SQLException {
    assertThat(pools()).allSatisfy(pool -> assertThat(limit(pool)).hasValue(MOST));
  }

  @Test
  @DisplayName(
      "is known behind a wrapper, but for Tomcat's two, which deny that they are themselves")
  void wrapped() throws SQLException {
    assertThat(pools().map(PoolsTest::wrapped).map(PoolsTest::limit))
        .filteredOn(OptionalInt::isPresent)
        .hasSize(6);
  }

  private static DataSource wrapped(DataSource pool) {
    return Intercepted.of(pool, (target, method, arguments) -> method.invoke(target, arguments));
  }

  @Test
  @DisplayName("is none where the pool has none, or is not known")
  void none() {
    assertThat(limit(dbcp(-1))).isEmpty();
    assertThat(limit(new PGSimpleDataSource())).isEmpty();
  }

  @Test
  @DisplayName("is the application's, in a small pool beside a relay")
  void all() throws SQLException {
    AtomicInteger delivered = new AtomicInteger();
    try (BasicDataSource pool = dbcp(3)) {
      pool.setUrl(database.pool.getJdbcUrl());
      pool.setUsername(database.pool.getUsername());
      pool.setPassword(database.pool.getPassword());
      pool.addConnectionProperty("currentSchema", database.schema());
      pool.setMaxWait(Duration.ofSeconds(30)); // by default it waits for ever
      PostgresOutboxStore small = PostgresOutboxStore.of(pool);
      try (Relay relay =
          Relay.builder(
                  small,
                  messages -> {
                    delivered.addAndGet(messages.size());
                    return Collections.nCopies(messages.size(), Result.delivered());
                  })
              .build()) {
        relay.start();
        append(message());
        await().until(() -> delivered.get() == 1);
        try (Connection first = pool.getConnection();
            Connection second = pool.getConnection();
            Connection third = pool.getConnection()) {
          for (Connection each : List.of(first, second, third)) {
            each.setAutoCommit(false);
            small.append(each, message());
            each.commit();
          }
        }
        await().until(() -> delivered.get() == 4);
      }
    }
  }
}
