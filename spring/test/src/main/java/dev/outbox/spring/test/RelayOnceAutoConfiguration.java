package dev.outbox.spring.test;

import dev.outbox.relay.Relay;
import dev.outbox.relay.RelayListener;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spring.RelayCustomizer;
import dev.outbox.testing.RecordingPublisher;
import dev.outbox.testing.RelayOnce;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** A relay for tests, with the application's settings, and something to publish to. */
@AutoConfiguration(afterName = "dev.outbox.spring.autoconfigure.OutboxAutoConfiguration")
@ConditionalOnBean(OutboxStore.class)
final class RelayOnceAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean(MessagePublisher.class)
  RecordingPublisher recordingPublisher() {
    return new RecordingPublisher();
  }

  @Bean
  @ConditionalOnBean(name = "recordingPublisher")
  Forgotten outboxDeliveredMessages(RecordingPublisher recordingPublisher) {
    return new Forgotten(recordingPublisher::clear);
  }

  /** Of one worker, because it works in the test's thread, whatever the application has. */
  @Bean
  @ConditionalOnMissingBean
  RelayOnce relayOnce(
      OutboxStore<?> store,
      MessagePublisher publisher,
      ObjectProvider<RelayListener> listeners,
      ObjectProvider<RelayCustomizer> customizers) {
    return RelayOnce.with(
        () -> {
          Relay.Builder relay = Relay.builder(store, publisher);
          listeners.orderedStream().forEach(relay::listener);
          customizers.orderedStream().forEach(customizer -> customizer.customize(relay));
          return relay.workers(1);
        });
  }
}
