package dev.outbox.example.shop;

import org.apache.kafka.clients.admin.NewTopic;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.config.TopicBuilder;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.util.backoff.FixedBackOff;

@Configuration(proxyBeanMethods = false)
class KafkaConfiguration {

  @Bean
  NewTopic orderTopic() {
    return TopicBuilder.name("order").partitions(3).build();
  }

  /** A record is handled again until it succeeds: without this, Spring leaves it out in the end. */
  @Bean
  CommonErrorHandler untilItSucceeds() {
    return new DefaultErrorHandler(new FixedBackOff(1_000, FixedBackOff.UNLIMITED_ATTEMPTS));
  }
}
