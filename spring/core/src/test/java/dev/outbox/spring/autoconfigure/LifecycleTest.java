package dev.outbox.spring.autoconfigure;

import static dev.outbox.spring.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.relay.Relay;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.spring.Application;
import dev.outbox.spring.OutboxRelay;
import dev.outbox.spring.Patience;
import dev.outbox.store.memory.MemoryInboxStore;
import dev.outbox.store.memory.MemoryOutboxStore;
import dev.outbox.testing.RecordingPublisher;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.Lifecycle;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.support.GenericApplicationContext;

/** Starts and stops that do not go as they should. */
class LifecycleTest {
  private final RecordingPublisher publisher = new RecordingPublisher();

  private static OutboxRelay relay(OutboxStore<?> store, RecordingPublisher publisher) {
    return new OutboxRelay(
        () -> Relay.builder(store, publisher).stopTimeout(Duration.ofMinutes(10)).build());
  }

  /** As that of a further data source. */
  private static SmartLifecycle further(OutboxRelay relay) {
    return new MoreOutboxes.Made(
        new MoreOutboxes.Parts("billing", null, relay, null, null, null, null));
  }

  /** Of its own, because the common pool may have one alone. */
  private static CompletableFuture<Void> inThread(Runnable action) {
    return CompletableFuture.runAsync(action, task -> new Thread(task).start());
  }

  /** Longer than any test is patient. */
  private static void hang(CountDownLatch until) {
    try {
      until.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aStartThatHangsHoldsUpNoStop() {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch answered = new CountDownLatch(1);
    class Hanging extends MemoryOutboxStore implements SchemaStore {
      @Override
      public void migrate() {}

      @Override
      public String ddl() {
        return "";
      }

      @Override
      public void verify() {
        asked.countDown();
        hang(answered);
      }

      @Override
      public String place() {
        return "here";
      }
    }
    OutboxRelay relay = relay(new Hanging(), publisher);
    CompletableFuture<Void> started = inThread(relay::start);
    try {
      await().until(() -> asked.getCount() == 0);
      assertThat(relay.isRunning()).isFalse();
      assertThat(inThread(relay::stop)).succeedsWithin(Patience.LIMIT);
    } finally {
      answered.countDown();
    }
    assertThat(started).failsWithin(Patience.LIMIT);
    assertThat(relay.isRunning()).isFalse();
    relay.start();
    assertThat(relay.isAlive()).isTrue();
    relay.stop();
  }

  static Stream<SmartLifecycle> beans() {
    RecordingPublisher publisher = new RecordingPublisher();
    return Stream.of(
        relay(new MemoryOutboxStore(), publisher),
        further(relay(new MemoryOutboxStore(), publisher)),
        new InboxPurge(new MemoryInboxStore()));
  }

  /** After a listener that fails Spring destroys the beans, and stops none. */
  @ParameterizedTest
  @MethodSource("beans")
  void itEndsWithAContextThatDoesNotComeUp(SmartLifecycle bean) {
    try (GenericApplicationContext context = new GenericApplicationContext()) {
      context.registerBean(SmartLifecycle.class, () -> bean);
      context.addApplicationListener(
          event -> {
            assertThat(bean.isRunning()).isTrue();
            throw new IllegalArgumentException("not like this");
          });
      assertThatThrownBy(context::refresh).isInstanceOf(IllegalArgumentException.class);
    }
    assertThat(bean.isRunning()).isFalse();
  }

  /** The second is asked to stop while the first still waits for its publisher. */
  @Test
  void relaysStopAtTheSameTime() {
    CountDownLatch hanging = new CountDownLatch(2);
    CountDownLatch released = new CountDownLatch(1);
    publisher.answer(
        message -> {
          hanging.countDown();
          hang(released);
          return Result.delivered();
        });
    MemoryOutboxStore one = new MemoryOutboxStore();
    MemoryOutboxStore other = new MemoryOutboxStore();
    List<SmartLifecycle> relays = List.of(relay(one, publisher), further(relay(other, publisher)));
    try (GenericApplicationContext context = new GenericApplicationContext()) {
      relays.forEach(
          relay -> context.registerBean(relay.toString(), SmartLifecycle.class, () -> relay));
      context.refresh();
      try {
        for (MemoryOutboxStore store : List.of(one, other)) {
          store.inTransaction(
              transaction ->
                  store.append(transaction, List.of(Application.message("1", "OrderPlaced"))));
        }
        await().until(() -> hanging.getCount() == 0);
        CompletableFuture<Void> stopped = inThread(context::stop);
        await().until(() -> relays.stream().noneMatch(Lifecycle::isRunning));
        assertThat(stopped).isNotDone();
        released.countDown();
        assertThat(stopped).succeedsWithin(Patience.LIMIT);
      } finally {
        released.countDown(); // or the close would wait for it
      }
    }
  }
}
