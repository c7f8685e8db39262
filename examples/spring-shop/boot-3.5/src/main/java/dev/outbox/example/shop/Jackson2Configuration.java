package dev.outbox.example.shop;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Events as JSON, by the mapper of Spring Boot 3. */
@Configuration(proxyBeanMethods = false)
class Jackson2Configuration {

  @Bean
  EventReader eventReader(ObjectMapper mapper) {
    return new EventReader() {
      @Override
      public <T> T read(byte[] payload, Class<T> type) {
        try {
          return mapper.readValue(payload, type);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    };
  }
}
