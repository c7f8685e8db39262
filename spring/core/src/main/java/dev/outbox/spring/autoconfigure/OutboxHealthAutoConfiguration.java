package dev.outbox.spring.autoconfigure;

import dev.outbox.consumer.kafka.KafkaInboxConsumer;
import dev.outbox.relay.RelayState;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spring.OutboxRelay;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.actuate.health.AbstractHealthIndicator;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** {@code health/outbox} and {@code health/inboxConsumers} of Boot 3. */
@AutoConfiguration(after = OutboxAutoConfiguration.class)
@ConditionalOnClass({AbstractHealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
final class OutboxHealthAutoConfiguration {

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnEnabledHealthIndicator("outbox")
  @ConditionalOnBooleanProperty(name = "outbox.enabled", matchIfMissing = true)
  @ConditionalOnSingleCandidate(OutboxStore.class)
  static class OfOutbox {
    @Bean
    OutboxHealth outboxHealth(
        OutboxStore<?> store, ObjectProvider<OutboxRelay> relay, RelayState state) {
      return new OutboxHealth(store, relay::getIfAvailable, state);
    }

    @Bean
    @ConditionalOnMissingBean(name = "outboxHealthIndicator")
    AbstractHealthIndicator outboxHealthIndicator(OutboxHealth outbox, ListableBeanFactory beans) {
      return new AbstractHealthIndicator("The outbox is not well") {
        @Override
        protected void doHealthCheck(Health.Builder health) {
          OutboxHealth.Checked checked = outbox.checkAll(beans);
          (checked.isUp() ? health.up() : health.down()).withDetails(checked.details());
        }
      };
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(KafkaInboxConsumer.class)
  @ConditionalOnEnabledHealthIndicator("inboxConsumers")
  @ConditionalOnBean(KafkaInboxConsumer.class)
  static class OfConsumers {
    @Bean
    @ConditionalOnMissingBean(name = "inboxConsumersHealthIndicator")
    AbstractHealthIndicator inboxConsumersHealthIndicator(
        ObjectProvider<KafkaInboxConsumer<?, ?, ?>> all) {
      ConsumerHealth consumers = new ConsumerHealth(all);
      return new AbstractHealthIndicator("A consumer is not well") {
        @Override
        protected void doHealthCheck(Health.Builder health) {
          health.up().withDetails(consumers.check());
        }
      };
    }
  }
}
