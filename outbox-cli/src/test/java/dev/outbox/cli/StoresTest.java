package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.PermanentOutboxException;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.StoreProvider.Opened;
import dev.outbox.store.memory.MemoryOutboxStore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class StoresTest {

  private record Refusing(RuntimeException error, AtomicInteger closed) implements Opened {
    @Override
    public OutboxStore<?> store() {
      return new MemoryOutboxStore();
    }

    @Override
    public void check() {
      throw error;
    }

    @Override
    public void close() {
      closed.incrementAndGet();
    }
  }

  @Test
  @DisplayName("an outbox that is not as it should be is closed, whatever its check throws")
  void closes() {
    AtomicInteger closed = new AtomicInteger();
    assertThatThrownBy(
            () -> Stores.checked(new Refusing(new PermanentOutboxException("away"), closed)))
        .isInstanceOf(Failure.class)
        .hasMessage("away");
    assertThat(closed).hasValue(1);
    RuntimeException other = new IllegalStateException("a bug of the driver");
    assertThatThrownBy(() -> Stores.checked(new Refusing(other, closed))).isSameAs(other);
    assertThat(closed).hasValue(2);
  }

  @Test
  @DisplayName("a store without an inbox is named")
  void noInbox() {
    Opened opened = new Refusing(new IllegalStateException(), new AtomicInteger());
    assertThatThrownBy(() -> Stores.inbox(opened, "inbox_"))
        .isInstanceOf(Failure.class)
        .hasMessage("MemoryOutboxStore has no inbox beside it");
  }
}
