package dev.outbox.spring;

import static dev.outbox.spring.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.JoinedOutbox;
import dev.outbox.NoTransactionException;
import dev.outbox.embedded.EmbeddedPostgres;
import dev.outbox.spring.autoconfigure.Endpoints;
import dev.outbox.spring.autoconfigure.Healths;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

/** Two databases with an outbox each: Boot's own and another one. */
@ExtendWith(Servers.Resolver.class)
@SuppressWarnings("unchecked") // details of health
class SeveralOutboxesTest {
  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class Shop {
    @Qualifier("billing")
    @Bean(defaultCandidate = false)
    HikariDataSource billing(Environment environment) {
      HikariDataSource pool = new HikariDataSource();
      pool.setJdbcUrl(environment.getRequiredProperty("billing.url"));
      pool.setUsername(environment.getRequiredProperty("billing.username"));
      pool.setPassword(environment.getRequiredProperty("billing.password"));
      pool.setConnectionTimeout(2_000);
      return pool;
    }

    @Qualifier("billing")
    @Bean(defaultCandidate = false)
    PlatformTransactionManager billingTransactions(@Qualifier("billing") DataSource dataSource) {
      return new DataSourceTransactionManager(dataSource);
    }

    @Qualifier("billing")
    @Bean(defaultCandidate = false)
    DataSourceOutbox billingOutbox(
        OutboxFactory outboxes, @Qualifier("billing") DataSource dataSource) {
      return outboxes.of(dataSource, relay -> relay.workers(1));
    }

    @Bean
    MeterRegistry registry() {
      return new SimpleMeterRegistry();
    }

    @Bean
    Bills bills(JoinedOutbox first, @Qualifier("billing") JoinedOutbox billing) {
      return new Bills(first, billing);
    }
  }

  record Bills(JoinedOutbox first, JoinedOutbox billing) {}

  private static EmbeddedPostgres billing;
  private static HttpEndpoint endpoint;
  private static Application shop;

  @BeforeAll
  static void start(Servers servers) throws SQLException, IOException {
    billing = EmbeddedPostgres.start();
    endpoint = new HttpEndpoint();
    shop =
        Application.start(
            servers.schema(),
            List.of(Shop.class),
            "--outbox.publisher=http",
            "--outbox.http.destination=%s/{aggregateId}".formatted(endpoint.url()),
            "--outbox.http.cloud-events-source=https://shop.example",
            "--management.endpoints.web.exposure.include=health,outbox",
            "--billing.url=" + billing.jdbcUrl(),
            "--billing.username=" + billing.user(),
            "--billing.password=" + billing.password());
  }

  @AfterAll
  static void stop() {
    if (shop != null) {
      shop.close();
    }
    endpoint.close();
    billing.close();
  }

  private static void in(String manager, Runnable work) {
    Application.commit(shop.transaction(manager), work);
  }

  private static void append(JoinedOutbox outbox, String id) {
    outbox.append(Application.message(id, "Billed"));
  }

  private static List<String> delivered() {
    return endpoint.requests.stream().map(request -> request.path().substring(1)).toList();
  }

  private static void awaitDelivery(String id) {
    await().untilAsserted(() -> assertThat(delivered()).contains(id));
  }

  @Test
  void eachJoinsTheTransactionsOfItsDataSourceAndRefusesThoseOfTheOther() {
    Bills bills = shop.bean(Bills.class);
    in("billingTransactions", () -> append(bills.billing(), "billing-1"));
    in("transactionManager", () -> append(bills.first(), "first-1"));
    awaitDelivery("billing-1");
    awaitDelivery("first-1");
    in(
        "transactionManager",
        () ->
            assertThatThrownBy(() -> append(bills.billing(), "billing-2"))
                .isInstanceOf(NoTransactionException.class)
                .hasMessageContaining("one of the DataSource dataSource,")
                .hasMessageContaining("outbox is in the DataSource billing:"));
    in(
        "billingTransactions",
        () ->
            assertThatThrownBy(() -> append(bills.first(), "first-2"))
                .isInstanceOf(NoTransactionException.class)
                .hasMessageContaining("outbox is in the DataSource dataSource:"));
    assertThat(delivered()).doesNotContain("billing-2", "first-2");
  }

  /** Each in the other's transaction, as a rollback would show. */
  @Test
  void aRollbackTakesTheMessageOfItsOwnOnly() {
    Bills bills = shop.bean(Bills.class);
    in(
        "transactionManager",
        () -> {
          append(bills.first(), "first-3");
          assertThatThrownBy(
                  () ->
                      in(
                          "billingTransactions",
                          () -> {
                            append(bills.billing(), "billing-3");
                            throw new IllegalStateException("no");
                          }))
              .isInstanceOf(IllegalStateException.class);
        });
    awaitDelivery("first-3");
    in("billingTransactions", () -> append(bills.billing(), "billing-4"));
    awaitDelivery("billing-4");
    assertThat(delivered()).doesNotContain("billing-3");
  }

  @Test
  void metersHealthAndEndpointAreTheirsByName() {
    for (String name : List.of("outbox", "billing")) {
      assertThat(shop.bean(MeterRegistry.class).find("outbox.relays").tag("database", name).gauge())
          .isInstanceOf(Gauge.class);
    }
    assertThat(Healths.status(shop.context())).isEqualTo("UP");
    assertThat((Map<String, Object>) Healths.detail(shop.context(), "billing"))
        .containsKey("broker");
    assertThat(Endpoints.relays(shop.context()))
        .containsOnlyKeys("outbox", "billing")
        .allSatisfy((name, relay) -> assertThat(relay).contains("state=running", "broker="));
  }

  @Test
  void oneThatStopsHoldsUpNoOther() {
    Bills bills = shop.bean(Bills.class);
    billing.stop();
    try {
      in("transactionManager", () -> append(bills.first(), "first-5"));
      awaitDelivery("first-5");
      assertThat(Healths.status(shop.context())).isEqualTo("DOWN");
      assertThat(Healths.error(shop.context())).isNull();
      assertThat((Map<String, Object>) Healths.detail(shop.context(), "billing"))
          .containsKey("error");
    } finally {
      billing.restart();
    }
    await()
        .ignoreExceptions()
        .untilAsserted(() -> in("billingTransactions", () -> append(bills.billing(), "billing-5")));
    awaitDelivery("billing-5");
  }

  @Test
  void itRunsAgainAfterARestartOfTheContext() {
    shop.context().stop();
    DataSourceOutbox other = shop.context().getBean("billingOutbox", DataSourceOutbox.class);
    assertThat(other.isRunning()).isFalse();
    shop.context().start();
    in("billingTransactions", () -> append(shop.bean(Bills.class).billing(), "billing-6"));
    awaitDelivery("billing-6");
  }
}
