package dev.outbox.example.shop;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.json.JsonMapper;

/**
 * Events as JSON, by the mapper of Spring Boot. Boot 3.5 has another, the only class that differs.
 */
@Configuration(proxyBeanMethods = false)
class Jackson3Configuration {
  @Bean
  EventReader eventReader(JsonMapper mapper) {
    return mapper::readValue;
  }
}
