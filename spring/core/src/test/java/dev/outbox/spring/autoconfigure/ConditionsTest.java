package dev.outbox.spring.autoconfigure;

import static dev.outbox.spring.autoconfigure.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.outbox.Appended;
import dev.outbox.JoinedOutbox;
import dev.outbox.Outbox.CurrentTransaction;
import dev.outbox.OutboxMessage;
import dev.outbox.inbox.JoinedInbox;
import dev.outbox.payload.PayloadSerializer;
import dev.outbox.payload.SerializedPayload;
import dev.outbox.publisher.kafka.KafkaPublisher;
import dev.outbox.relay.RelayState;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spring.DataSourceOutbox;
import dev.outbox.spring.OutboxFactory;
import dev.outbox.spring.OutboxRelay;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.memory.MemoryInboxStore;
import dev.outbox.store.memory.MemoryOutboxStore;
import dev.outbox.testing.RecordingPublisher;
import dev.outbox.tracing.OutboxTracing;
import io.opentelemetry.api.OpenTelemetry;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.kafka.core.ProducerFactory;

/** Which beans there are, and which are left to the application. Nothing connects. */
@ExtendWith(OutputCaptureExtension.class)
class ConditionsTest {
  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  OutboxAutoConfiguration.class,
                  OutboxInboxAutoConfiguration.class,
                  OutboxJdbcAutoConfiguration.class,
                  OutboxMongoAutoConfiguration.class,
                  OutboxPublisherAutoConfiguration.class))
          .withBean("orders", DataSource.class, DriverManagerDataSource::new)
          .withClassLoader(Jars.of(KafkaPublisher.class))
          .withPropertyValues("outbox.store=postgres", "outbox.schema-mode=none");

  @Test
  void withoutAPublisherThereIsNoRelay(CapturedOutput output) {
    runner
        .withClassLoader(Jars.without(Set.of(ProducerFactory.class)))
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .hasSingleBean(JoinedOutbox.class)
                    .doesNotHaveBean(MessagePublisher.class)
                    .doesNotHaveBean(OutboxRelay.class));
    assertThat(output).contains("There is no publisher, so messages of the outbox are stored");
  }

  @Test
  void whereAnotherProcessPublishesThereIsNeither(CapturedOutput output) {
    runner
        .withPropertyValues("outbox.relay.enabled=false")
        .run(
            context ->
                assertThat(context)
                    .hasSingleBean(JoinedOutbox.class)
                    .doesNotHaveBean(MessagePublisher.class)
                    .doesNotHaveBean(OutboxRelay.class)
                    .doesNotHaveBean(InboxStore.class)
                    .doesNotHaveBean(InboxPurge.class));
    assertThat(output).doesNotContain("There is no publisher");
  }

  @Test
  void anOutboxOfTheApplicationStandsInThePlaceOfOurs() {
    JoinedOutbox own = messages -> Appended.of(messages, Set.of());
    runner
        .withPropertyValues("outbox.relay.enabled=false")
        .withBean(JoinedOutbox.class, () -> own)
        .run(context -> assertThat(context.getBean(JoinedOutbox.class)).isSameAs(own));
  }

  /** Whose bean method forgets {@code defaultCandidate = false}. */
  @Configuration(proxyBeanMethods = false)
  static class Further {
    @Bean
    DataSourceOutbox billing(OutboxFactory outboxes) {
      return outboxes.of(new DriverManagerDataSource());
    }
  }

  @Test
  void oneOfAFurtherDataSourceDoesNotStandInItsPlace() {
    runner
        .withPropertyValues("outbox.relay.enabled=false")
        .withUserConfiguration(Further.class)
        .run(
            context -> {
              assertThat(context.getBeanNamesForType(JoinedOutbox.class))
                  .containsExactlyInAnyOrder("outbox", "billing");
              Throwable several = catchThrowable(() -> context.getBean(JoinedOutbox.class));
              assertThat(new NoOutboxFailureAnalyzer().analyze(several))
                  .as("Boot says which there are")
                  .isNull();
            });
  }

  /** As Boot makes aspects: by a subclass. */
  @Test
  void anAspectMayStandAroundAnOutbox() {
    runner
        .withPropertyValues("outbox.relay.enabled=false", "outbox.inbox.enabled=true")
        .run(
            context -> {
              DataSourceOutbox further =
                  context.getBean(OutboxFactory.class).of(new DriverManagerDataSource());
              for (Object outbox :
                  List.of(
                      context.getBean(JoinedOutbox.class),
                      context.getBean(JoinedInbox.class),
                      further)) {
                ProxyFactory aspect = new ProxyFactory(outbox);
                aspect.setProxyTargetClass(true);
                assertThat(AopUtils.isAopProxy(aspect.getProxy())).isTrue();
              }
            });
  }

  @Test
  void disabledThereIsNothing() {
    runner
        .withPropertyValues("outbox.enabled=false")
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .doesNotHaveBean(JoinedOutbox.class)
                    .doesNotHaveBean(OutboxStore.class)
                    .doesNotHaveBean(CurrentTransaction.class)
                    .doesNotHaveBean(MessagePublisher.class));
  }

  @Test
  void anInboxNeedsNoOutbox() {
    runner
        .withPropertyValues(
            "outbox.enabled=false", "outbox.inbox.enabled=true", "outbox.inbox.purge=false")
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .hasSingleBean(JoinedInbox.class)
                    .hasSingleBean(InboxStore.class)
                    .hasSingleBean(CurrentTransaction.class)
                    .doesNotHaveBean(InboxPurge.class)
                    .doesNotHaveBean(OutboxStore.class));
  }

  @Test
  void anInboxBesideTheOutboxHasItsTransactions() {
    runner
        .withPropertyValues(
            "outbox.relay.enabled=false", "outbox.inbox.enabled=true", "outbox.inbox.purge=false")
        .run(
            context ->
                assertThat(context)
                    .hasSingleBean(JoinedOutbox.class)
                    .hasSingleBean(JoinedInbox.class)
                    .hasSingleBean(CurrentTransaction.class));
  }

  @Test
  void anInboxOfTheApplicationStandsInThePlaceOfOurs() {
    MemoryInboxStore own = new MemoryInboxStore();
    runner
        .withPropertyValues("outbox.enabled=false", "outbox.inbox.enabled=true")
        .withBean(MemoryInboxStore.class, () -> own)
        .run(
            context ->
                assertThat(context)
                    .hasSingleBean(JoinedInbox.class)
                    .hasSingleBean(InboxPurge.class)
                    .getBean(InboxStore.class)
                    .isSameAs(own));
  }

  @Test
  void withoutAStoreThereIsNothing() {
    runner
        .withClassLoader(Jars.without(Set.of(JdbcOutboxStore.class)))
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(JoinedOutbox.class));
  }

  @Test
  void ofSeveralDataSourcesOneIsMarked() {
    refused(
        runner.withBean("billing", DataSource.class, DriverManagerDataSource::new),
        "There are several DataSources, orders, billing, and none of them is the outbox's",
        "@OutboxDataSource");
  }

  @Test
  void whatCannotBeIsRefused() {
    ApplicationContextRunner relaying =
        new ApplicationContextRunner()
            .withConfiguration(
                AutoConfigurations.of(
                    OutboxAutoConfiguration.class, OutboxMetricsAutoConfiguration.class))
            .withBean(MemoryOutboxStore.class)
            .withBean(RecordingPublisher.class);
    refused(
        relaying.withPropertyValues("outbox.relay.workers=0"),
        "The relay's settings are refused: workers is 0",
        "Correct outbox.relay.*");
    refused(
        relaying.withPropertyValues("outbox.relay.retry.max-attempts=0"),
        "The relay's settings are refused: maxAttempts is 0",
        "Correct outbox.relay.*");
    refused(
        relaying.withPropertyValues("outbox.metrics.interval=0s"),
        "A property outbox.* is refused: interval is 0s",
        "Correct the property.");
  }

  @Test
  void aChildContextTakesWhatItsParentHas(CapturedOutput output) {
    ApplicationContextRunner both =
        new ApplicationContextRunner()
            .withConfiguration(
                AutoConfigurations.of(
                    OutboxAutoConfiguration.class, OutboxPayloadsAutoConfiguration.class))
            .withPropertyValues("outbox.append.application-events=true");
    List<OutboxMessage> appended = new ArrayList<>();
    both.withBean(MemoryOutboxStore.class, MemoryOutboxStore::new)
        .withBean(RecordingPublisher.class)
        .withBean(
            PayloadSerializer.class,
            () -> (about, event) -> SerializedPayload.of(new byte[0], "text/plain"))
        .withBean(
            JoinedOutbox.class,
            () ->
                messages -> {
                  appended.addAll(messages);
                  return Appended.of(List.of(), Set.of());
                })
        .run(
            parent ->
                both.withParent(parent)
                    .run(
                        child -> {
                          assertThat(child.getBean(RelayState.class))
                              .isSameAs(parent.getBean(RelayState.class));
                          child.publishEvent(
                              new PayloadsTest.OrderPlaced("order-1", Instant.EPOCH));
                          assertThat(appended).hasSize(1);
                        }));
    assertThat(output).doesNotContain("There is no publisher");
  }

  @Test
  void tracesGoOnWhereThereIsOpenTelemetry() {
    ApplicationContextRunner traced =
        runner
            .withPropertyValues("outbox.relay.enabled=false")
            .withBean(OpenTelemetry.class, OpenTelemetry::noop);
    traced.run(context -> assertThat(context).hasSingleBean(OutboxTracing.class));
    traced
        .withPropertyValues("outbox.append.trace=false")
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(Traces.class));
    traced
        .withClassLoader(Jars.without(Set.of(OpenTelemetry.class)))
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(Traces.class));
  }
}
