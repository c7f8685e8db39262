package dev.outbox.spring.autoconfigure;

import dev.outbox.relay.RelayState;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spring.OutboxRelay;
import dev.outbox.spring.autoconfigure.OutboxHealth.Checked;
import java.util.function.Supplier;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * {@code health/outbox} and {@code health/inboxConsumers}, by the types of either generation, and
 * {@code /actuator/outbox}, where it is exposed; it is not unless somebody says so.
 */
@AutoConfiguration(after = {OutboxAutoConfiguration.class, OutboxMetricsAutoConfiguration.class})
final class OutboxActuatorAutoConfiguration {
  /** Without a capital letter, because Boot finds no property of a name that has one. */
  private static final String INBOX_CONSUMERS = "inboxconsumers";

  private static final String CONSUMER = "dev.outbox.consumer.kafka.KafkaInboxConsumer";

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({Endpoint.class, ConditionalOnAvailableEndpoint.class})
  @ConditionalOnAvailableEndpoint(endpoint = OutboxEndpoint.class)
  @ConditionalOnBooleanProperty(name = "outbox.enabled", matchIfMissing = true)
  @ConditionalOnSingleCandidate(OutboxStore.class)
  static class Endpoints {
    @Bean
    @ConditionalOnMissingBean
    OutboxEndpoint outboxEndpoint(
        RelayState state,
        ObjectProvider<OutboxRelay> relay,
        ObjectProvider<LastReading> reading,
        ListableBeanFactory beans) {
      return new OutboxEndpoint(state, relay.getIfUnique(), reading.getIfAvailable(), beans);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(
      org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator
          .class)
  static class Boot3 {
    @Bean
    @org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator(
        "outbox")
    @ConditionalOnBean(OutboxHealth.class)
    @ConditionalOnMissingBean(name = "outboxHealthIndicator")
    org.springframework.boot.actuate.health.AbstractHealthIndicator outboxHealthIndicator(
        OutboxHealth outbox, ListableBeanFactory beans) {
      return indicator(() -> outbox.checkAll(beans));
    }

    @Bean
    @org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator(
        INBOX_CONSUMERS)
    @ConditionalOnBean(type = CONSUMER)
    @ConditionalOnMissingBean(name = "inboxConsumersHealthIndicator")
    org.springframework.boot.actuate.health.AbstractHealthIndicator inboxConsumersHealthIndicator(
        ListableBeanFactory beans) {
      return indicator(() -> ConsumerHealth.check(beans));
    }

    private static org.springframework.boot.actuate.health.AbstractHealthIndicator indicator(
        Supplier<Checked> check) {
      return new org.springframework.boot.actuate.health.AbstractHealthIndicator() {
        @Override
        protected void doHealthCheck(
            org.springframework.boot.actuate.health.Health.Builder health) {
          Checked checked = check.get();
          (checked.isUp() ? health.up() : health.down()).withDetails(checked.details());
        }
      };
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(ConditionalOnEnabledHealthIndicator.class)
  static class Boot4 {
    @Bean
    @ConditionalOnEnabledHealthIndicator("outbox")
    @ConditionalOnBean(OutboxHealth.class)
    @ConditionalOnMissingBean(name = "outboxHealthIndicator")
    AbstractHealthIndicator outboxHealthIndicator(OutboxHealth outbox, ListableBeanFactory beans) {
      return indicator(() -> outbox.checkAll(beans));
    }

    @Bean
    @ConditionalOnEnabledHealthIndicator(INBOX_CONSUMERS)
    @ConditionalOnBean(type = CONSUMER)
    @ConditionalOnMissingBean(name = "inboxConsumersHealthIndicator")
    AbstractHealthIndicator inboxConsumersHealthIndicator(ListableBeanFactory beans) {
      return indicator(() -> ConsumerHealth.check(beans));
    }

    private static AbstractHealthIndicator indicator(Supplier<Checked> check) {
      return new AbstractHealthIndicator() {
        @Override
        protected void doHealthCheck(Health.Builder health) {
          Checked checked = check.get();
          (checked.isUp() ? health.up() : health.down()).withDetails(checked.details());
        }
      };
    }
  }
}
