package dev.outbox.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.consumer.kafka.ConsumerStatus.State;
import dev.outbox.consumer.kafka.KafkaInboxConsumer;
import dev.outbox.store.memory.MemoryInboxStore;
import java.lang.reflect.Proxy;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The health of a consumer whose client throws what it is told to. */
class ConsumerHealthTest {
  private static final String INDICATOR = "inboxConsumersHealthIndicator";

  private volatile RuntimeException trouble;
  private final MemoryInboxStore inbox = new MemoryInboxStore();
  private final KafkaInboxConsumer<?, ?, ?> consumer =
      KafkaInboxConsumer.builder(kafka(), inbox, inbox.database()::inTransaction)
          .name("shipping")
          .topics("order")
          .handler((transaction, record) -> {})
          .build();
  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withConfiguration(AutoConfigurations.of(OutboxActuatorAutoConfiguration.class));

  /** Without the client's own mock, which differs between the versions that Boot brings. */
  @SuppressWarnings("unchecked")
  private Consumer<String, String> kafka() {
    return (Consumer<String, String>)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {Consumer.class},
            (proxy, method, arguments) -> {
              if (!method.getName().equals("poll")) {
                return null;
              }
              if (trouble != null) {
                throw trouble;
              }
              return ConsumerRecords.empty();
            });
  }

  @AfterEach
  void close() {
    consumer.close();
  }

  @Test
  void itIsDownWhenAConsumerHasEnded() {
    runner
        .withBean(KafkaInboxConsumer.class, () -> consumer)
        .run(
            context -> {
              assertThat(Healths.status(context, INDICATOR)).isEqualTo("UP");
              assertThat(Healths.details(context, INDICATOR))
                  .isEqualTo(Map.of("shipping", "starting"));
              trouble = new TopicAuthorizationException("may not read order");
              Thread running = new Thread(consumer, "test-consumer");
              running.setUncaughtExceptionHandler((thread, e) -> {}); // Awaitility would throw it
              running.start();
              await().until(() -> consumer.status().state() == State.WAITING);
              assertThat(Healths.status(context, INDICATOR)).isEqualTo("UP");
              assertThat(Healths.details(context, INDICATOR).get("shipping").toString())
                  .startsWith("waiting since 20")
                  .contains("may not read order");
              trouble = new IllegalStateException("no group any more");
              await().until(() -> consumer.status().state() == State.FAILED);
              assertThat(Healths.status(context, INDICATOR)).isEqualTo("DOWN");
              assertThat(Healths.details(context, INDICATOR).get("shipping").toString())
                  .startsWith("failed since 20")
                  .contains("no group any more", "restart the application");
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"inboxConsumers", "inbox-consumers"})
  void itIsSwitchedOffByItsName(String name) {
    runner
        .withBean(KafkaInboxConsumer.class, () -> consumer)
        .withPropertyValues("management.health.%s.enabled=false".formatted(name))
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(INDICATOR));
  }

  @Test
  void thereIsNoneWithoutAConsumer() {
    runner.run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(INDICATOR));
    runner
        .withClassLoader(new FilteredClassLoader(KafkaInboxConsumer.class))
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(INDICATOR));
  }
}
