package dev.outbox.spring.autoconfigure;

import dev.outbox.spi.publisher.MessagePublisher;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** The publisher: the one whose jar is there, or those that are chosen. */
@AutoConfiguration(
    after = {
      OutboxHandlersAutoConfiguration.class,
      OutboxHttpAutoConfiguration.class,
      OutboxKafkaAutoConfiguration.class,
      OutboxNatsAutoConfiguration.class,
      OutboxRabbitAutoConfiguration.class
    })
@ConditionalOnBooleanProperty(
    name = {"outbox.enabled", "outbox.relay.enabled"},
    matchIfMissing = true)
@EnableConfigurationProperties(OutboxProperties.class)
final class OutboxPublisherAutoConfiguration {

  /** Where one is chosen and none is there, somebody has to say so. */
  static final class OfferedOrChosen extends AnyNestedCondition {
    OfferedOrChosen() {
      super(ConfigurationPhase.REGISTER_BEAN);
    }

    @ConditionalOnBean(OfferedPublisher.class)
    static final class Offered {}

    @ConditionalOnBean(HandlerMethods.class)
    static final class Handled {}

    @Conditional(NamesOne.class)
    static final class Chosen {}
  }

  /** As a list of YAML's too, which is no property of that name. */
  static final class NamesOne implements Condition {
    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
      return !Binder.get(context.getEnvironment())
          .bind(Publishers.PROPERTY, Bindable.listOf(String.class))
          .orElse(List.of())
          .isEmpty();
    }
  }

  @Bean
  @ConditionalOnMissingBean(MessagePublisher.class)
  @Conditional(OfferedOrChosen.class)
  Publishers outboxPublishers(
      OutboxProperties properties,
      ObjectProvider<OfferedPublisher> offered,
      ObjectProvider<HandlerMethods> handlers) {
    return new Publishers(properties, offered, handlers.getIfAvailable());
  }

  @Bean(destroyMethod = "close")
  @ConditionalOnBean(Publishers.class)
  MessagePublisher outboxPublisher(Publishers publishers) {
    return publishers.open();
  }
}
