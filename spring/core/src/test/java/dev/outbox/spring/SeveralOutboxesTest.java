package dev.outbox.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.JoinedOutbox;
import dev.outbox.NoTransactionException;
import dev.outbox.OutboxMessage;
import dev.outbox.embedded.EmbeddedPostgres;
import dev.outbox.relay.RelayEvent;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spring.Servers.Schema;
import dev.outbox.spring.autoconfigure.Endpoints;
import dev.outbox.spring.autoconfigure.Healths;
import dev.outbox.testing.RecordingPublisher;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.Lifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Two databases with an outbox each: Boot's own and another one. */
@ExtendWith(Servers.Resolver.class)
@SuppressWarnings("unchecked") // details of health
class SeveralOutboxesTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

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

  private static final Set<String> delivered = ConcurrentHashMap.newKeySet();
  private static EmbeddedPostgres billing;
  private static HttpServer endpoint;
  private static Application shop;

  @BeforeAll
  static void start(Servers servers) throws SQLException, IOException {
    billing = EmbeddedPostgres.start();
    endpoint = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    endpoint.createContext(
        "/",
        exchange -> {
          try (exchange) {
            byte[] ignored = exchange.getRequestBody().readAllBytes();
            delivered.add(exchange.getRequestURI().getPath().substring(1));
            exchange.sendResponseHeaders(204, -1);
          }
        });
    endpoint.start();
    shop =
        Application.start(
            servers.schema(),
            List.of(Shop.class),
            "--outbox.publisher=http",
            "--outbox.http.destination=http://127.0.0.1:%d/{aggregateId}"
                .formatted(endpoint.getAddress().getPort()),
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
    endpoint.stop(0);
    billing.close();
  }

  private static void in(String manager, Runnable work) {
    in(shop, manager, work);
  }

  private static void in(Application shop, String manager, Runnable work) {
    new TransactionTemplate(shop.context().getBean(manager, PlatformTransactionManager.class))
        .executeWithoutResult(status -> work.run());
  }

  private static void append(JoinedOutbox outbox, String id) {
    outbox.append(
        OutboxMessage.builder().aggregate("bill", id).eventType("Billed").payload("{}").build());
  }

  private static void awaitDelivery(String id) {
    await().atMost(PATIENCE).untilAsserted(() -> assertThat(delivered).contains(id));
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
    assertThat(delivered).doesNotContain("billing-2", "first-2");
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
    assertThat(delivered).doesNotContain("billing-3");
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
        .atMost(PATIENCE)
        .ignoreExceptions()
        .untilAsserted(() -> in("billingTransactions", () -> append(bills.billing(), "billing-5")));
    awaitDelivery("billing-5");
  }

  /** The second is asked to stop while the first still waits for its publisher. */
  @Test
  void theyStopAtTheSameTime(Servers servers) throws SQLException {
    CountDownLatch hanging = new CountDownLatch(2);
    CountDownLatch released = new CountDownLatch(1);
    RecordingPublisher publisher = new RecordingPublisher();
    publisher.answer(
        message -> {
          hanging.countDown();
          OutboxRelayTest.hang(released);
          return Result.delivered();
        });
    try (Application hung =
        start(servers, publisher, context -> {}, "--outbox.relay.stop-timeout=10m")) {
      try {
        List<Lifecycle> relays =
            List.of(
                hung.bean(OutboxRelay.class),
                hung.context().getBean("billingOutbox", DataSourceOutbox.class));
        Bills bills = hung.bean(Bills.class);
        in(hung, "transactionManager", () -> append(bills.first(), "first-7"));
        in(hung, "billingTransactions", () -> append(bills.billing(), "billing-7"));
        await().atMost(PATIENCE).until(() -> hanging.getCount() == 0);
        CompletableFuture<Void> stopped = CompletableFuture.runAsync(hung.context()::stop);
        await().atMost(PATIENCE).until(() -> relays.stream().noneMatch(Lifecycle::isRunning));
        assertThat(stopped).isNotDone();
        released.countDown();
        assertThat(stopped).succeedsWithin(PATIENCE);
      } finally {
        released.countDown(); // or the close would wait for it
      }
    }
  }

  @Test
  void bothEndWithAContextThatDoesNotComeUp(Servers servers) {
    List<RelayEvent> events = new CopyOnWriteArrayList<>();
    assertThatThrownBy(
            () ->
                start(
                    servers,
                    new RecordingPublisher(),
                    context -> {
                      context.registerBean(
                          RelayCustomizer.class, () -> relay -> relay.listener(events::add));
                      context.addApplicationListener(
                          event -> {
                            if (event instanceof ContextRefreshedEvent) {
                              throw new IllegalArgumentException("not like this");
                            }
                          });
                    },
                    "--outbox.relay.workers=1"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(events).filteredOn(RelayEvent.Started.class::isInstance).hasSize(2);
    assertThat(events).filteredOn(RelayEvent.Stopped.class::isInstance).hasSize(2);
  }

  /** Another application, of two databases of its own. */
  private static Application start(
      Servers servers,
      MessagePublisher publisher,
      ApplicationContextInitializer<GenericApplicationContext> initializer,
      String more)
      throws SQLException {
    Schema other = servers.schema();
    return Application.start(
        servers.schema(),
        List.of(Shop.class),
        context -> {
          context.registerBean(MessagePublisher.class, () -> publisher);
          initializer.initialize(context);
        },
        more,
        "--billing.url=" + other.url(),
        "--billing.username=" + other.user(),
        "--billing.password=" + other.password());
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
