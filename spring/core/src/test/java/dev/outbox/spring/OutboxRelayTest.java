package dev.outbox.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.relay.Relay;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.store.memory.MemoryOutboxStore;
import dev.outbox.testing.RecordingPublisher;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.springframework.context.support.GenericApplicationContext;

/** Starts and stops that do not go as they should. */
class OutboxRelayTest {
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private static void awaitZero(CountDownLatch latch) {
    await().atMost(PATIENCE).until(() -> latch.getCount() == 0);
  }

  /** Of its own, because the common pool may have one alone. */
  private static CompletableFuture<Void> inThread(Runnable action) {
    return CompletableFuture.runAsync(action, task -> new Thread(task).start());
  }

  /** Longer than any test is patient. */
  static void hang(CountDownLatch until) {
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
    OutboxStore<?> store = new Hanging();
    OutboxRelay relay =
        new OutboxRelay(() -> Relay.builder(store, new RecordingPublisher()).build());
    CompletableFuture<Void> started = inThread(relay::start);
    try {
      awaitZero(asked);
      assertThat(relay.isRunning()).isFalse();
      assertThat(inThread(relay::stop)).succeedsWithin(PATIENCE);
    } finally {
      answered.countDown();
    }
    assertThat(started).failsWithin(PATIENCE);
    assertThat(relay.isRunning()).isFalse();
    relay.start();
    assertThat(relay.isAlive()).isTrue();
    relay.stop();
  }

  /** After a listener that fails Spring destroys the beans, and stops none. */
  @Test
  void itEndsWithAContextThatDoesNotComeUp() {
    OutboxRelay relay =
        new OutboxRelay(
            () -> Relay.builder(new MemoryOutboxStore(), new RecordingPublisher()).build());
    try (GenericApplicationContext context = new GenericApplicationContext()) {
      context.registerBean(OutboxRelay.class, () -> relay);
      context.addApplicationListener(
          event -> {
            assertThat(relay.isRunning()).isTrue();
            throw new IllegalArgumentException("not like this");
          });
      assertThatThrownBy(context::refresh).isInstanceOf(IllegalArgumentException.class);
    }
    assertThat(relay.isRunning()).isFalse();
  }
}
