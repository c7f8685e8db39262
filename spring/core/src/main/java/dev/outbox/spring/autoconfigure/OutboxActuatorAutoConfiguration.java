package dev.outbox.spring.autoconfigure;

import dev.outbox.spring.autoconfigure.OutboxHealth.Checked;
import java.util.function.Supplier;
import org.springframework.beans.factory.ListableBeanFactory;
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
  private static final String CONSUMER = "dev.outbox.consumer.kafka.KafkaInboxConsumer";

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
        "inboxConsumers")
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
    @ConditionalOnEnabledHealthIndicator("inboxConsumers")
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
