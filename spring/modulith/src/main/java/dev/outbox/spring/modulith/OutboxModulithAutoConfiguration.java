package dev.outbox.spring.modulith;

import dev.outbox.JoinedOutbox;
import dev.outbox.PermanentOutboxException;
import dev.outbox.payload.PayloadSerializer;
import dev.outbox.spring.EventRecorder;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.modulith.events.EventExternalizationConfiguration;

/**
 * Spring Modulith's externalization in the mode {@code outbox}, with this outbox behind it. It asks
 * for a {@link JoinedOutbox} without a condition: where there is none the application does not
 * start, for its events would be lost.
 */
@AutoConfiguration(
    afterName = {
      "org.springframework.modulith.events.config.EventExternalizationAutoConfiguration",
      "org.springframework.modulith.events.config.EventPublicationAutoConfiguration",
      "dev.outbox.spring.autoconfigure.OutboxAutoConfiguration",
      "dev.outbox.spring.autoconfigure.OutboxPayloadsAutoConfiguration"
    })
@ConditionalOnProperty(name = OutboxModulithAutoConfiguration.MODE, havingValue = "outbox")
@ConditionalOnBooleanProperty(
    name = "spring.modulith.events.externalization.enabled",
    matchIfMissing = true)
final class OutboxModulithAutoConfiguration {

  /** A property of Spring Modulith since 2.1; older versions know no modes. */
  static final String MODE = "spring.modulith.events.externalization.mode";

  /** A parent context's hears the events of its children, too. */
  @Bean
  @ConditionalOnMissingBean(name = "outboxEventRecorder")
  EventRecorder outboxEventRecorder(
      ObjectProvider<EventExternalizationConfiguration> externalized,
      ObjectProvider<PayloadSerializer> serializer,
      JoinedOutbox outbox,
      BeanFactory beans) {
    EventExternalizationConfiguration configuration =
        externalized.getIfAvailable(this::noExternalization);
    StandardEvaluationContext context = new StandardEvaluationContext();
    context.setBeanResolver(new BeanFactoryResolver(beans));
    ExternalizedMessages messages =
        new ExternalizedMessages(
            configuration, serializer.getIfAvailable(this::noSerializer), context);
    return new EventRecorder(
        event -> !isOfSpring(event) && configuration.supports(event), messages::of, outbox);
  }

  /** As of a context that was refreshed, which a configuration may well select. */
  private static boolean isOfSpring(Object event) {
    return event instanceof ApplicationEvent
        && event.getClass().getName().startsWith("org.springframework.");
  }

  @Bean
  static RegistryWatch outboxRegistryWatch() {
    return new RegistryWatch();
  }

  private EventExternalizationConfiguration noExternalization() {
    throw new PermanentOutboxException(
        "nothing says which events are externalized: add org.springframework.modulith:spring-modulith-events-core, or a starter of Spring Modulith's that has it, as spring-modulith-starter-jdbc");
  }

  private PayloadSerializer noSerializer() {
    throw new PermanentOutboxException(
        "there is nothing to write externalized events with: add Spring Boot's starter for Jackson (spring-boot-starter-json, in Boot 4 spring-boot-starter-jackson), or define a PayloadSerializer bean");
  }
}
