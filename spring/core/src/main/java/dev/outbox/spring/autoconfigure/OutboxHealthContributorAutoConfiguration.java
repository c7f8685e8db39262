package dev.outbox.spring.autoconfigure;

import dev.outbox.relay.RelayState;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spring.OutboxRelay;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.context.annotation.Bean;

/** {@code health/outbox} of Boot 4. */
@AutoConfiguration(after = OutboxAutoConfiguration.class)
@ConditionalOnClass({AbstractHealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnEnabledHealthIndicator("outbox")
@ConditionalOnBooleanProperty(name = "outbox.enabled", matchIfMissing = true)
@ConditionalOnSingleCandidate(OutboxStore.class)
final class OutboxHealthContributorAutoConfiguration {

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
