package dev.outbox.spring.shop;

import dev.outbox.testing.RecordingPublisher;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.context.annotation.Bean;

/** An application as users write it. */
@SpringBootApplication
public class ShopApplication {

  /** In the place of a broker, where a test needs none. */
  @Bean
  @ConditionalOnBooleanProperty("shop.recording")
  RecordingPublisher publisher() {
    return new RecordingPublisher();
  }
}
