package dev.outbox.spring.autoconfigure;

import dev.outbox.tracing.OutboxTracing;
import io.opentelemetry.api.OpenTelemetry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/** Traces that go through the outbox, where the application has OpenTelemetry. */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.actuate.autoconfigure.opentelemetry.OpenTelemetryAutoConfiguration",
      "org.springframework.boot.opentelemetry.autoconfigure.OpenTelemetrySdkAutoConfiguration"
    })
@ConditionalOnClass({OpenTelemetry.class, OutboxTracing.class})
@ConditionalOnBooleanProperty(
    name = {"outbox.enabled", "outbox.append.trace"},
    matchIfMissing = true)
@ConditionalOnSingleCandidate(OpenTelemetry.class)
final class OutboxTracingAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean
  OutboxTracing outboxTracing(OpenTelemetry openTelemetry) {
    return OutboxTracing.of(openTelemetry);
  }

  @Bean
  Traces outboxTraces(OutboxTracing tracing) {
    return new Traces(tracing::outbox, tracing::publisher, tracing::send);
  }
}
