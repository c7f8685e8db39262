package dev.outbox.spring.autoconfigure;

import dev.outbox.micrometer.OutboxMetrics;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.StatisticsStore;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.ArrayList;
import java.util.List;
import org.springframework.beans.factory.ListableBeanFactory;
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
  private static final String DATABASE = "database";

  /** What waits is read with the rights of a relay, where that has a data source of its own. */
  @Bean(destroyMethod = "close")
  @ConditionalOnMissingBean
  OutboxMetrics outboxMetrics(
      OutboxProperties properties,
      OutboxStore<?> store,
      ObjectProvider<RelayStore> own,
      ListableBeanFactory beans) {
    return metrics(
        properties,
        own.getIfAvailable(() -> new RelayStore(store)).store(),
        Relays.outboxes(beans) > 1 ? Tags.of(DATABASE, Relays.FIRST) : Tags.empty());
  }

  @Bean(destroyMethod = "close")
  OfOthers outboxMetricsOfOthers(OutboxProperties properties) {
    return new OfOthers(properties);
  }

  /** The meters of further outboxes: in all registries, whichever comes first. */
  static final class OfOthers implements MoreMeters, MeterBinder, AutoCloseable {
    private final OutboxProperties properties;
    private final List<MeterRegistry> registries = new ArrayList<>();
    private final List<OutboxMetrics> all = new ArrayList<>();

    OfOthers(OutboxProperties properties) {
      this.properties = properties;
    }

    @Override
    public synchronized Meters of(String name, OutboxStore<?> store) {
      OutboxMetrics made = metrics(properties, store, Tags.of(DATABASE, name));
      registries.forEach(made::bindTo);
      all.add(made);
      return new Meters(made, reading(made));
    }

    @Override
    public synchronized void bindTo(MeterRegistry registry) {
      registries.add(registry);
      all.forEach(one -> one.bindTo(registry));
    }

    @Override
    public synchronized void close() {
      all.forEach(OutboxMetrics::close);
    }
  }

  private static OutboxMetrics metrics(
      OutboxProperties properties, OutboxStore<?> read, Iterable<Tag> tags) {
    if (!(read instanceof StatisticsStore counts)) {
      throw new OutboxConfigurationException(
          "The store %s cannot count what waits, so there are no meters of it"
              .formatted(read.getClass().getName()),
          "Let it implement StatisticsStore, or set outbox.metrics.enabled=false.");
    }
    return OutboxConfigurationException.ofProperties(
        () ->
            OutboxMetrics.builder(counts)
                .interval(properties.metrics().interval())
                .tags(tags)
                .build());
  }

  @Bean
  LastReading outboxLastReading(OutboxMetrics metrics) {
    return reading(metrics);
  }

  private static LastReading reading(OutboxMetrics metrics) {
    return new LastReading(() -> metrics.lastReading().orElse(null), metrics::readingAge);
  }
}
