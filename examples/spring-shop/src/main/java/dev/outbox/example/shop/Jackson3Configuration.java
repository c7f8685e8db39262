package dev.outbox.example.shop;

import dev.outbox.payload.Jackson3PayloadSerializer;
import dev.outbox.payload.OutboxEvents;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.json.JsonMapper;

/**
 * Events as JSON, by the mapper of Spring Boot. Boot 3.5 has another, the only class that differs.
 */
@Configuration(proxyBeanMethods = false)
class Jackson3Configuration {
  @Bean
  OutboxEvents events(JsonMapper mapper) {
    return OutboxEvents.of(Jackson3PayloadSerializer.of(mapper));
  }

  @Bean
  EventReader eventReader(JsonMapper mapper) {
    return mapper::readValue;
  }
}
