package dev.outbox.spring;

import static dev.outbox.spring.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.NoTransactionException;
import dev.outbox.spring.autoconfigure.Endpoints;
import dev.outbox.spring.autoconfigure.Healths;
import dev.outbox.testing.RecordingPublisher;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.sql.SQLException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringBootVersion;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** An application with JPA on PostgreSQL; auto-commit is off in its pool, which hides mistakes. */
@ExtendWith(Servers.Resolver.class)
class ShopTest {
  @AutoClose private static Application shop;

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

  @BeforeEach
  void forget() {
    shop.bean(OutboxRelay.class).start();
    await().until(() -> shop.messages() == 0); // of the test before
    shop.bean(RecordingPublisher.class).clear();
  }

  private static void awaitDelivered(String... messages) {
    await().untilAsserted(() -> assertThat(shop.delivered()).containsExactly(messages));
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
    TransactionTemplate supports = shop.transaction();
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
    shop.execute("alter table outbox_schema rename to gone");
    try {
      assertThat(Healths.status(shop.context())).isEqualTo("DOWN");
    } finally {
      shop.execute("alter table gone rename to outbox_schema");
    }
    assertThat(Healths.status(shop.context())).isEqualTo("UP");
  }

  @Test
  void metersCountWhatIsDelivered() {
    MeterRegistry meters = shop.bean(MeterRegistry.class);
    double before = delivered(meters);
    shop.shop().place("order-9");
    awaitDelivered("OrderPlaced order-9");
    await().until(() -> delivered(meters) == before + 1);
  }

  @Test
  void theEndpointShowsWhatWaits() {
    shop.bean(OutboxRelay.class).stop();
    shop.shop().place("order-10");
    await().untilAsserted(() -> assertThat(Endpoints.pending(shop.context())).isEqualTo(1));
    assertThat(Endpoints.relay(shop.context())).contains("state=stopped", "workers=2");
    shop.bean(OutboxRelay.class).start();
    await().untilAsserted(() -> assertThat(Endpoints.pending(shop.context())).isZero());
    assertThat(Endpoints.relay(shop.context()))
        .contains("state=running", "broker=reachable", "unavailable=[]");
  }

  private static double delivered(MeterRegistry meters) {
    return meters.find("outbox.delivered").tag("aggregate.type", "order").counters().stream()
        .mapToDouble(Counter::count)
        .sum();
  }

  @Test
  void noProbeRestartsTheApplicationForIt() {
    assertThat(Healths.isMember(shop.context(), "liveness")).isFalse();
    assertThat(Healths.isMember(shop.context(), "readiness")).isFalse();
  }
}
