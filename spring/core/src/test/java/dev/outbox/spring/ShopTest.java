package dev.outbox.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.NoTransactionException;
import dev.outbox.spring.autoconfigure.Endpoints;
import dev.outbox.spring.autoconfigure.Healths;
import dev.outbox.testing.RecordingPublisher;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringBootVersion;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** An application with JPA on PostgreSQL; auto-commit is off in its pool, which hides mistakes. */
@ExtendWith(Servers.Resolver.class)
class ShopTest {
  private static Application shop;

  @BeforeAll
  static void start(Servers servers) throws SQLException {
    shop =
        Application.start(
            servers.schema(),
            "--spring.datasource.hikari.auto-commit=false",
            "--outbox.metrics.interval=100ms",
            "--management.endpoints.web.exposure.include=health,outbox",
            "--management.endpoint.health.probes.enabled=true");
  }

  @AfterAll
  static void stop() {
    if (shop != null) {
      shop.close();
    }
  }

  @BeforeEach
  void forget() {
    shop.bean(OutboxRelay.class).start();
    await().atMost(Duration.ofMinutes(1)).until(() -> shop.messages() == 0); // of the test before
    shop.bean(RecordingPublisher.class).clear();
  }

  private static void awaitDelivered(String... messages) {
    await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(() -> assertThat(shop.delivered()).containsExactly(messages));
  }

  @Test
  void runsOnTheLineThatItIsFor() {
    assertThat(SpringBootVersion.getVersion()).startsWith(System.getProperty("outbox.test.boot"));
  }

  @Test
  void commitDelivers() {
    shop.shop().place("order-1");
    shop.shop().pay("order-1");
    awaitDelivered("OrderPlaced order-1", "OrderPaid order-1");
  }

  @Test
  void rollbackLeavesNothing() {
    shop.bean(OutboxRelay.class).stop();
    assertThatThrownBy(() -> shop.shop().placeAndFail("order-2")).hasMessage("out of stock");
    assertThat(shop.messages()).isZero();
    assertThat(shop.jdbc().queryForList("select id from orders where id = 'order-2'")).isEmpty();
  }

  /** As a repository would say it, so that handlers and retries know it. */
  @Test
  void whatAFlushFailsWithIsSpringsException() {
    shop.shop().place("order-8");
    assertThatThrownBy(() -> shop.shop().place("order-8"))
        .isInstanceOf(DataIntegrityViolationException.class);
  }

  @Test
  void aForgottenTransactionIsRefused() {
    assertThatThrownBy(() -> shop.shop().placeWithoutTransaction("order-3"))
        .isInstanceOf(NoTransactionException.class)
        .hasMessageContaining("no transaction of Spring is active")
        .hasMessageContaining("@Transactional");
    assertThat(shop.messages()).isZero();
  }

  @Test
  void aReadOnlyTransactionIsRefused() {
    assertThatThrownBy(() -> shop.shop().placeReadOnly("order-4"))
        .isInstanceOf(NoTransactionException.class)
        .hasMessageContaining("readOnly = true");
    assertThat(shop.messages()).isZero();
  }

  @Test
  void aTransactionThatOnlySynchronizesIsRefused() {
    TransactionTemplate supports =
        new TransactionTemplate(shop.bean(PlatformTransactionManager.class));
    supports.setPropagationBehavior(TransactionDefinition.PROPAGATION_SUPPORTS);
    supports.executeWithoutResult(
        status -> {
          assertThat(shop.jdbc().queryForList("select 1")).hasSize(1); // binds a connection
          assertThatThrownBy(() -> shop.shop().placeWithoutTransaction("order-5"))
              .isInstanceOf(NoTransactionException.class);
        });
    assertThat(shop.messages()).isZero();
  }

  @Test
  void itIsDownWhenItsTablesAreGone() {
    assertThat(Healths.status(shop.context())).isEqualTo("UP");
    inTransaction("alter table outbox_schema rename to gone");
    try {
      assertThat(Healths.status(shop.context())).isEqualTo("DOWN");
    } finally {
      inTransaction("alter table gone rename to outbox_schema");
    }
    assertThat(Healths.status(shop.context())).isEqualTo("UP");
  }

  /** Auto-commit is off. */
  private static void inTransaction(String sql) {
    new TransactionTemplate(shop.bean(PlatformTransactionManager.class))
        .executeWithoutResult(status -> shop.jdbc().execute(sql));
  }

  @Test
  void metersCountWhatIsDeliveredAndWhatWaits() {
    MeterRegistry meters = shop.bean(MeterRegistry.class);
    Deliveries since = new Deliveries(meters);
    shop.shop().place("order-9");
    awaitDelivered("OrderPlaced order-9");
    await().atMost(Duration.ofMinutes(1)).until(() -> since.count() == 1);
    shop.bean(OutboxRelay.class).stop();
    shop.shop().pay("order-9");
    await()
        .atMost(Duration.ofMinutes(1))
        .until(() -> meters.get("outbox.messages").tag("status", "pending").gauge().value() == 1);
  }

  @Test
  void theEndpointShowsWhatWaits() {
    shop.bean(OutboxRelay.class).stop();
    shop.shop().place("order-10");
    await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(() -> assertThat(Endpoints.pending(shop.context())).isEqualTo(1));
    assertThat(Endpoints.relay(shop.context())).contains("state=stopped", "workers=2");
    shop.bean(OutboxRelay.class).start();
    await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(() -> assertThat(Endpoints.pending(shop.context())).isZero());
    assertThat(Endpoints.relay(shop.context()))
        .contains("state=running", "broker=reachable", "unavailable=[]");
  }

  /** What was delivered since. */
  private record Deliveries(MeterRegistry meters, double before) {
    Deliveries(MeterRegistry meters) {
      this(meters, count(meters));
    }

    double count() {
      return count(meters) - before;
    }

    private static double count(MeterRegistry meters) {
      return meters.find("outbox.delivered").tag("aggregate.type", "order").counters().stream()
          .mapToDouble(Counter::count)
          .sum();
    }
  }

  @Test
  void noProbeRestartsTheApplicationForIt() {
    assertThat(Healths.isMember(shop.context(), "liveness")).isFalse();
    assertThat(Healths.isMember(shop.context(), "readiness")).isFalse();
  }
}
