package dev.outbox.spring.autoconfigure;

import dev.outbox.JoinedOutbox;
import dev.outbox.payload.Jackson2PayloadSerializer;
import dev.outbox.payload.Jackson3PayloadSerializer;
import dev.outbox.payload.OutboxEvent;
import dev.outbox.payload.OutboxEvents;
import dev.outbox.payload.PayloadSerializer;
import dev.outbox.spring.EventRecorder;
import dev.outbox.spring.PayloadReader;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.Order;
import tools.jackson.databind.json.JsonMapper;

/**
 * Messages of the application's own classes, as JSON: written and read by the mapper that Boot has
 * configured.
 */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration",
      "org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration",
      "org.springframework.boot.jackson2.autoconfigure.Jackson2AutoConfiguration"
    })
@ConditionalOnBooleanProperty(name = "outbox.enabled", matchIfMissing = true)
final class OutboxPayloadsAutoConfiguration {

  /** The classes in this one come first. */
  @Bean
  @ConditionalOnMissingBean
  @ConditionalOnBean(PayloadSerializer.class)
  OutboxEvents outboxEvents(PayloadSerializer serializer) {
    return OutboxEvents.of(serializer);
  }

  /**
   * Not by default: who appends such events by hand would append them twice. Nor where the parent
   * context has one, which hears the events of its children, too.
   *
   * @param externalized that of {@code outbox-spring-modulith}, which appends what it takes itself
   */
  @Bean
  @ConditionalOnBooleanProperty("outbox.append.application-events")
  @ConditionalOnMissingBean(name = "outboxApplicationEvents")
  EventRecorder outboxApplicationEvents(
      OutboxEvents events,
      JoinedOutbox outbox,
      @Qualifier("outboxEventRecorder") ObjectProvider<EventRecorder> externalized) {
    return new EventRecorder(
        event ->
            AnnotatedElementUtils.hasAnnotation(event.getClass(), OutboxEvent.class)
                && externalized.stream().noneMatch(other -> other.takes(event)),
        event -> events.message(EventRecorder.checkedContent(event)),
        outbox);
  }

  /** For a String or bytes nothing is read. */
  private static PayloadReader orAsItIs(PayloadReader json) {
    return (message, type) -> {
      if (type == String.class) {
        return message.payloadAsString();
      }
      return type == byte[].class ? message.payload() : json.read(message, type);
    };
  }

  /** That of Boot 4, also where Jackson 2 is there too. */
  @Order(1)
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(JsonMapper.class)
  @ConditionalOnSingleCandidate(JsonMapper.class)
  static class Jackson3 {
    @Bean
    @ConditionalOnMissingBean
    PayloadSerializer outboxPayloadSerializer(JsonMapper mapper) {
      return Jackson3PayloadSerializer.of(mapper);
    }

    @Bean
    @ConditionalOnMissingBean
    PayloadReader outboxPayloadReader(JsonMapper mapper) {
      return orAsItIs((message, type) -> mapper.readValue(message.payload(), type));
    }
  }

  /** That of Boot 3. */
  @Order(2)
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(com.fasterxml.jackson.databind.ObjectMapper.class)
  @ConditionalOnSingleCandidate(com.fasterxml.jackson.databind.ObjectMapper.class)
  static class Jackson2 {
    @Bean
    @ConditionalOnMissingBean
    PayloadSerializer outboxPayloadSerializer(com.fasterxml.jackson.databind.ObjectMapper mapper) {
      return Jackson2PayloadSerializer.of(mapper);
    }

    @Bean
    @ConditionalOnMissingBean
    PayloadReader outboxPayloadReader(com.fasterxml.jackson.databind.ObjectMapper mapper) {
      return orAsItIs((message, type) -> mapper.readValue(message.payload(), type));
    }
  }
}
