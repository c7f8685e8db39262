package dev.outbox.spring.autoconfigure;

import dev.outbox.consumer.kafka.KafkaInboxConsumer;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** {@code health/outbox} and {@code health/inboxConsumers}, by the types of either generation. */
@AutoConfiguration(after = OutboxAutoConfiguration.class)
final class OutboxHealthAutoConfiguration {

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
      return new org.springframework.boot.actuate.health.AbstractHealthIndicator(
          "The outbox is not well") {
        @Override
        protected void doHealthCheck(
            org.springframework.boot.actuate.health.Health.Builder health) {
          OutboxHealth.Checked checked = outbox.checkAll(beans);
          (checked.isUp() ? health.up() : health.down()).withDetails(checked.details());
        }
      };
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(KafkaInboxConsumer.class)
    static class OfConsumers {
      @Bean
      @org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator(
          "inboxConsumers")
      @ConditionalOnBean(KafkaInboxConsumer.class)
      @ConditionalOnMissingBean(name = "inboxConsumersHealthIndicator")
      org.springframework.boot.actuate.health.AbstractHealthIndicator inboxConsumersHealthIndicator(
          ObjectProvider<KafkaInboxConsumer<?, ?, ?>> all) {
        ConsumerHealth consumers = new ConsumerHealth(all);
        return new org.springframework.boot.actuate.health.AbstractHealthIndicator(
            "A consumer is not well") {
          @Override
          protected void doHealthCheck(
              org.springframework.boot.actuate.health.Health.Builder health) {
            health.up().withDetails(consumers.check());
          }
        };
      }
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
      return new AbstractHealthIndicator("The outbox is not well") {
        @Override
        protected void doHealthCheck(Health.Builder health) {
          OutboxHealth.Checked checked = outbox.checkAll(beans);
          (checked.isUp() ? health.up() : health.down()).withDetails(checked.details());
        }
      };
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(KafkaInboxConsumer.class)
    static class OfConsumers {
      @Bean
      @ConditionalOnEnabledHealthIndicator("inboxConsumers")
      @ConditionalOnBean(KafkaInboxConsumer.class)
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
}
