package dev.outbox.spring.autoconfigure;

import dev.outbox.Appended;
import dev.outbox.JoinedOutbox;
import dev.outbox.Outbox;
import dev.outbox.Outbox.CurrentTransaction;
import dev.outbox.OutboxMessage;
import dev.outbox.relay.RelayListener;
import dev.outbox.relay.RelayState;
import dev.outbox.relay.SchemaProbe;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spring.DataSourceOutbox;
import dev.outbox.spring.OutboxRelay;
import dev.outbox.spring.RelayCustomizer;
import dev.outbox.tracing.OutboxTracing;
import io.opentelemetry.api.OpenTelemetry;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** The outbox that applications append to, and the relay, on whichever store and publisher. */
@AutoConfiguration(
    after = {
      OutboxJdbcAutoConfiguration.class,
      OutboxMongoAutoConfiguration.class,
      OutboxPublisherAutoConfiguration.class
    },
    afterName = {
      "org.springframework.boot.actuate.autoconfigure.opentelemetry.OpenTelemetryAutoConfiguration",
      "org.springframework.boot.opentelemetry.autoconfigure.OpenTelemetrySdkAutoConfiguration"
    })
@ConditionalOnBooleanProperty(name = "outbox.enabled", matchIfMissing = true)
@EnableConfigurationProperties(OutboxProperties.class)
final class OutboxAutoConfiguration {
  private static final Logger log = LoggerFactory.getLogger(OutboxAutoConfiguration.class);

  /** Traces that go through the outbox, where the application has OpenTelemetry. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({OpenTelemetry.class, OutboxTracing.class})
  @ConditionalOnBooleanProperty(name = "outbox.append.trace", matchIfMissing = true)
  @ConditionalOnSingleCandidate(OpenTelemetry.class)
  static class Tracing {
    @Bean
    @ConditionalOnMissingBean
    OutboxTracing outboxTracing(OpenTelemetry openTelemetry) {
      return OutboxTracing.of(openTelemetry);
    }

    @Bean
    Traces outboxTraces(OutboxTracing tracing) {
      return new Traces(tracing::outbox, tracing::publisher, tracing::send);
    }
  }

  @Bean
  @ConditionalOnMissingBean
  RelayState outboxRelayState() {
    return new RelayState();
  }

  @Bean
  Relays outboxRelays(
      ListableBeanFactory beans,
      ObjectProvider<RelayCustomizer> customizers,
      ObjectProvider<Traces> traces) {
    return new Relays(beans, customizers, traces);
  }

  @Bean
  HandOver outboxHandOver(ObjectProvider<OutboxRelay> relay) {
    return new HandOver(relay);
  }

  /** Also beside one of a further data source that everybody gets. */
  @Bean
  @ConditionalOnMissingBean(ignored = DataSourceOutbox.class)
  @ConditionalOnBean({OutboxStore.class, CurrentTransaction.class})
  JoinedOutbox outbox(
      OutboxStore<?> store, CurrentTransaction<?> transaction, HandOver handOver, Relays relays) {
    return new Spied(relays.traced(join(handOver.outbox(store), transaction)));
  }

  /**
   * A class: tests cannot spy on a lambda, as by {@code @MockitoSpyBean}. Not final, so that Spring
   * can put an aspect around it, which Boot makes by a subclass.
   */
  static class Spied implements JoinedOutbox {
    private final JoinedOutbox outbox;

    Spied(JoinedOutbox outbox) {
      this.outbox = outbox;
    }

    @Override
    public Appended append(List<OutboxMessage> messages) {
      return outbox.append(messages);
    }
  }

  /** Both are of one type of transaction: they were made for the same database. */
  @SuppressWarnings("unchecked")
  private static <T> JoinedOutbox join(Outbox<T> outbox, CurrentTransaction<?> transaction) {
    return outbox.joining((CurrentTransaction<T>) transaction);
  }

  /** The first, so that others can change what the properties say. A test's relay takes it too. */
  @Bean
  @Order(Ordered.HIGHEST_PRECEDENCE)
  RelayCustomizer outboxRelayProperties(OutboxProperties properties) {
    return properties.relay()::applyTo;
  }

  @Bean
  @ConditionalOnMissingBean
  @ConditionalOnBooleanProperty(name = "outbox.relay.enabled", matchIfMissing = true)
  @ConditionalOnBean({OutboxStore.class, MessagePublisher.class})
  OutboxRelay outboxRelay(
      HandOver handOver,
      OutboxStore<?> store,
      ObjectProvider<RelayStore> own,
      MessagePublisher publisher,
      ObjectProvider<RelayListener> listeners,
      Relays relays) {
    RelayStore relayStore = own.getIfAvailable(() -> new RelayStore(store));
    return relays.relay(
        Relays.FIRST, relayStore.store(), handOver, publisher, listeners::orderedStream);
  }

  @Bean
  @ConditionalOnSingleCandidate(OutboxStore.class)
  OutboxHealth outboxHealth(
      OutboxStore<?> store, ObjectProvider<OutboxRelay> relay, RelayState state) {
    return new OutboxHealth(new SchemaProbe(store), relay::getIfUnique, state);
  }

  @Bean
  @ConditionalOnBooleanProperty(name = "outbox.relay.enabled", matchIfMissing = true)
  @ConditionalOnBean(OutboxStore.class)
  SmartInitializingSingleton outboxRelayIsThere(ListableBeanFactory beans) {
    return () -> {
      if (BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, OutboxRelay.class, true, false)
              .length
          == 0) {
        log.warn(
            "There is no publisher, so messages of the outbox are stored and not published: add one, as dev.outbox:outbox-publisher-kafka, or outbox-publisher-handler for methods with @OutboxHandler, or set outbox.relay.enabled=false where another process publishes");
      }
    };
  }
}
