package dev.outbox.spring.autoconfigure;

import dev.outbox.relay.RelayState;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spring.OutboxRelay;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/** {@code /actuator/outbox}, where it is exposed; it is not unless somebody says so. */
@AutoConfiguration(after = {OutboxAutoConfiguration.class, OutboxMetricsAutoConfiguration.class})
@ConditionalOnClass({Endpoint.class, ConditionalOnAvailableEndpoint.class})
@ConditionalOnAvailableEndpoint(endpoint = OutboxEndpoint.class)
@ConditionalOnBooleanProperty(name = "outbox.enabled", matchIfMissing = true)
@ConditionalOnSingleCandidate(OutboxStore.class)
final class OutboxEndpointAutoConfiguration {

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
