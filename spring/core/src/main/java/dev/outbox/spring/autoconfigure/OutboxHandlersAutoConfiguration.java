package dev.outbox.spring.autoconfigure;

import dev.outbox.publisher.handler.HandlerPublisher;
import dev.outbox.spring.PayloadReader;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import tools.jackson.databind.json.JsonMapper;

/** Methods of beans that handle messages, and what reads their payloads. */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration",
      "org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration",
      "org.springframework.boot.jackson2.autoconfigure.Jackson2AutoConfiguration"
    })
@ConditionalOnClass(HandlerPublisher.class)
@ConditionalOnBooleanProperty(
    name = {"outbox.enabled", "outbox.relay.enabled"},
    matchIfMissing = true)
@EnableConfigurationProperties(OutboxProperties.class)
final class OutboxHandlersAutoConfiguration {

  @Bean
  HandlerMethods outboxHandlerMethods(
      OutboxProperties properties,
      ListableBeanFactory beans,
      ObjectProvider<PayloadReader> reader) {
    return new HandlerMethods(properties.handlers(), beans, reader);
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
    PayloadReader outboxPayloadReader(com.fasterxml.jackson.databind.ObjectMapper mapper) {
      return orAsItIs((message, type) -> mapper.readValue(message.payload(), type));
    }
  }
}
