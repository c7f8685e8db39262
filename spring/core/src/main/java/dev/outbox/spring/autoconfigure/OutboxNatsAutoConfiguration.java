package dev.outbox.spring.autoconfigure;

import dev.outbox.publisher.nats.NatsPublisherProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/** The publisher of NATS JetStream. */
@AutoConfiguration
@ConditionalOnClass(NatsPublisherProvider.class)
@ConditionalOnBooleanProperty(
    name = {"outbox.enabled", "outbox.relay.enabled"},
    matchIfMissing = true)
@EnableConfigurationProperties(OutboxProperties.class)
final class OutboxNatsAutoConfiguration {

  @Bean
  OfferedPublisher outboxNatsPublisher(OutboxProperties properties) {
    OutboxProperties.Nats nats = properties.nats();
    return new OfferedPublisher(
        "nats",
        "NATS",
        "Set outbox.nats.servers, or correct outbox.nats.* or outbox.destination.",
        nats,
        timeout ->
            new PublisherProperties(properties, nats)
                .cloudEventsSource(nats.cloudEventsSource())
                .list("nats.servers", nats.servers())
                .under("nats.", nats.properties())
                .open(new NatsPublisherProvider(), timeout));
  }
}
