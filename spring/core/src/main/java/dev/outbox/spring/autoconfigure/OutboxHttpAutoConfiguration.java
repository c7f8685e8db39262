package dev.outbox.spring.autoconfigure;

import dev.outbox.publisher.http.HttpPublisherProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/** The publisher of CloudEvents over HTTP. */
@AutoConfiguration
@ConditionalOnClass(HttpPublisherProvider.class)
@ConditionalOnBooleanProperty(
    name = {"outbox.enabled", "outbox.relay.enabled"},
    matchIfMissing = true)
@EnableConfigurationProperties(OutboxProperties.class)
final class OutboxHttpAutoConfiguration {

  @Bean
  OfferedPublisher outboxHttpPublisher(OutboxProperties properties) {
    OutboxProperties.Http http = properties.http();
    return new OfferedPublisher(
        "http",
        "HTTP",
        "Set outbox.http.destination and outbox.http.cloud-events-source, or correct outbox.http.*.",
        http,
        timeout ->
            new PublisherProperties(properties, http)
                .cloudEventsSource(http.cloudEventsSource())
                .given("http.mode", http.mode())
                .list("http.signingSecrets", http.signingSecrets())
                .under("http.header.", http.headers())
                .list("http.copiedHeaders", http.copiedHeaders())
                .given("http.maxInFlight", http.maxInFlight())
                .open(new HttpPublisherProvider(), timeout));
  }
}
