package dev.outbox.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.store.memory.MemoryInboxStore;
import org.junit.jupiter.api.Test;
import org.springframework.context.support.GenericApplicationContext;

class InboxPurgeTest {

  @Test
  void itEndsWithAContextThatDoesNotComeUp() {
    InboxPurge purge = new InboxPurge(new MemoryInboxStore());
    try (GenericApplicationContext context = new GenericApplicationContext()) {
      context.registerBean(InboxPurge.class, () -> purge);
      context.addApplicationListener(
          event -> {
            assertThat(purge.isRunning()).isTrue();
            throw new IllegalArgumentException("not like this");
          });
      assertThatThrownBy(context::refresh).isInstanceOf(IllegalArgumentException.class);
    }
    assertThat(purge.isRunning()).isFalse();
  }
}
