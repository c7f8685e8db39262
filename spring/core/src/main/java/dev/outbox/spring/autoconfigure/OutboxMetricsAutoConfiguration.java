package dev.outbox.spring.autoconfigure;

import dev.outbox.micrometer.OutboxMetrics;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/**
 * The meters. Boot binds them to its registries, and the relay takes them as one of its listeners:
 * without a registry nobody reads the store for them.
 */
@AutoConfiguration(after = {OutboxAutoConfiguration.class, OutboxMongoAutoConfiguration.class})
@ConditionalOnClass({MeterBinder.class, OutboxMetrics.class})
@ConditionalOnBooleanProperty(
    name = {"outbox.enabled", "outbox.metrics.enabled"},
    matchIfMissing = true)
@ConditionalOnSingleCandidate(OutboxStore.class)
@EnableConfigurationProperties(OutboxProperties.class)
final class OutboxMetricsAutoConfiguration {

  /** What waits is read with the rights of a relay, where that has a data source of its own. */
  @Bean(destroyMethod = "close")
  @ConditionalOnMissingBean
  OutboxMetrics outboxMetrics(
      OutboxProperties properties, OutboxStore<?> store, ObjectProvider<RelayStore> own) {
    OutboxStore<?> read = own.getIfAvailable(() -> new RelayStore(store)).store();
    if (!(read instanceof StatisticsStore counts)) {
      throw new OutboxConfigurationException(
          "The store %s cannot count what waits, so there are no meters of it"
              .formatted(read.getClass().getName()),
          "Let it implement StatisticsStore, or set outbox.metrics.enabled=false.",
          null);
    }
    try {
      return OutboxMetrics.builder(counts).interval(properties.metrics().interval()).build();
    } catch (IllegalArgumentException e) {
      throw new OutboxConfigurationException(
          "A property outbox.metrics.* is refused: " + e.getMessage(), "Correct the property.", e);
    }
  }

  @Bean
  LastReading outboxLastReading(OutboxMetrics metrics) {
    return new LastReading() {
      @Override
      public @Nullable Statistics statistics() {
        return metrics.lastReading().orElse(null);
      }

      @Override
      public Duration age() {
        return metrics.readingAge();
      }
    };
  }
}
