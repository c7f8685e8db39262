package dev.outbox.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.relay.Relay;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spring.OutboxRelay;
import dev.outbox.store.memory.MemoryOutboxStore;
import dev.outbox.testing.RecordingPublisher;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/** A store and a relay of the application's own, and what looks at them. */
class OwnRelayTest {
  private final AtomicInteger announced = new AtomicInteger();
  private final MemoryOutboxStore store =
      new MemoryOutboxStore() {
        @Override
        public Keeper keeper(Duration unclaimed) {
          return new Announcing(this, announced);
        }
      };
  private final Deque<Relay> relays = new ArrayDeque<>();
  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  OutboxAutoConfiguration.class, OutboxActuatorAutoConfiguration.class))
          .withPropertyValues("management.endpoints.web.exposure.include=outbox")
          .withBean(OutboxStore.class, () -> store)
          .withBean(OutboxRelay.class, () -> new OutboxRelay(this::relay));

  private Relay relay() {
    relays.add(Relay.builder(store, new RecordingPublisher()).build());
    return relays.getLast();
  }

  /** A poll would find what was committed, too; but only a wake is announced. */
  private record Announcing(MemoryOutboxStore store, AtomicInteger announced) implements Keeper {
    @Override
    public Claim claim(Claim.Request request) {
      return store.claim(request);
    }

    @Override
    public boolean announce() {
      return announced.incrementAndGet() > 0;
    }

    @Override
    public void giveBackUnused() {}

    @Override
    public void close() {}
  }

  @Test
  void commitsWakeIt() {
    runner.run(
        context -> {
          context.getBean(HandOver.class).afterCommit();
          assertThat(announced).hasValue(1);
        });
  }

  /** As after an error in a thread: to the one who started it, the relay is still running. */
  @Test
  void itIsDownWhenItsThreadsHaveEnded() {
    runner.run(
        context -> {
          assertThat(Healths.status(context)).isEqualTo("UP");
          assertThat(relayIn(context)).hasFieldOrPropertyWithValue("state", "running");
          relays.getLast().close();
          assertThat(Healths.status(context)).isEqualTo("DOWN");
          assertThat(Healths.error(context).toString()).contains("threads of the relay have ended");
          assertThat(relayIn(context)).hasFieldOrPropertyWithValue("state", "threads ended");
          context.getBean(OutboxRelay.class).stop();
          assertThat(Healths.status(context)).isEqualTo("UP");
          assertThat(relayIn(context)).hasFieldOrPropertyWithValue("state", "stopped");
        });
  }

  /** As of two stores, of which one is the primary; nobody can say whose relay is whose. */
  @Test
  void besideAnotherItIsNotLookedAt() {
    runner
        .withBean("another", OutboxRelay.class, () -> new OutboxRelay(this::relay))
        .run(
            context -> {
              assertThat(Healths.status(context)).isEqualTo("UP");
              assertThat(Healths.detail(context, "relay")).isNull();
              assertThat(relayIn(context)).isNull();
            });
  }

  private static Object relayIn(ApplicationContext context) {
    return context.getBean(OutboxEndpoint.class).outbox().relay();
  }

  @Test
  void theEndpointIsThereWhenItIsExposed() {
    runner.run(context -> assertThat(context).hasSingleBean(OutboxEndpoint.class));
    runner
        .withPropertyValues("management.endpoints.web.exposure.include=health")
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(OutboxEndpoint.class));
    runner
        .withPropertyValues("management.endpoint.outbox.access=NONE")
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(OutboxEndpoint.class));
  }
}
