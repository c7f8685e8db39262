package dev.outbox.spring.autoconfigure;

import dev.outbox.consumer.kafka.KafkaInboxConsumer;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.context.annotation.Bean;

/** {@code health/inboxConsumers} of Boot 4. */
@AutoConfiguration
@ConditionalOnClass({
  AbstractHealthIndicator.class,
  ConditionalOnEnabledHealthIndicator.class,
  KafkaInboxConsumer.class
})
@ConditionalOnEnabledHealthIndicator("inboxConsumers")
@ConditionalOnBean(KafkaInboxConsumer.class)
final class OutboxConsumerHealthContributorAutoConfiguration {

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
