package dev.outbox.spring.autoconfigure;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Appended;
import dev.outbox.JoinedOutbox;
import dev.outbox.OutboxMessage;
import dev.outbox.payload.OutboxEvent;
import dev.outbox.payload.OutboxEvents;
import dev.outbox.payload.PayloadSerializer;
import dev.outbox.payload.SerializedPayload;
import dev.outbox.spring.BootType;
import dev.outbox.spring.EventRecorder;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Messages of objects, written by the mapper that Boot configures: another class in Boot 4. */
class PayloadsTest {
  private final ApplicationContextRunner withoutJackson =
      new ApplicationContextRunner()
          .withConfiguration(AutoConfigurations.of(OutboxPayloadsAutoConfiguration.class));
  private final ApplicationContextRunner runner =
      withoutJackson.withConfiguration(
          AutoConfigurations.of(BootType.of("jackson", "JacksonAutoConfiguration")));

  @OutboxEvent(aggregate = "order", key = "id")
  record OrderPlaced(String id, Instant at) {}

  private static String payload(OutboxEvents events) {
    OutboxMessage message =
        events.message(new OrderPlaced("order-1", Instant.parse("2026-01-02T03:04:05Z")));
    assertThat(message.key()).isEqualTo("order/order-1");
    return message.payloadAsString();
  }

  @Test
  void areWrittenAsBootsMapperDoes() {
    runner.run(
        context ->
            assertThat(payload(context.getBean(OutboxEvents.class)))
                .isEqualTo("{\"id\":\"order-1\",\"at\":\"2026-01-02T03:04:05Z\"}"));
    runner
        .withPropertyValues("spring.jackson.property-naming-strategy=UPPER_CAMEL_CASE")
        .run(
            context ->
                assertThat(payload(context.getBean(OutboxEvents.class))).startsWith("{\"Id\":"));
  }

  @Test
  void eventsAreAppendedOnlyWhereThatIsWanted() {
    ApplicationContextRunner appending =
        runner.withBean(JoinedOutbox.class, () -> messages -> Appended.of(List.of(), Set.of()));
    appending.run(context -> assertThat(context).doesNotHaveBean(EventRecorder.class));
    appending
        .withPropertyValues("outbox.append.application-events=true")
        .run(context -> assertThat(context).hasSingleBean(EventRecorder.class));
  }

  @Test
  void theApplicationsOwnWriterComesFirst() {
    runner
        .withBean(
            PayloadSerializer.class,
            () -> (about, event) -> SerializedPayload.of("own".getBytes(UTF_8), "text/plain"))
        .run(context -> assertThat(payload(context.getBean(OutboxEvents.class))).isEqualTo("own"));
  }

  @Test
  void withoutAWriterThereAreNone() {
    withoutJackson.run(
        context -> assertThat(context).hasNotFailed().doesNotHaveBean(OutboxEvents.class));
  }
}
