package dev.outbox.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.StoredMessage;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.ExecutableHint;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.annotation.ReflectiveRuntimeHintsRegistrar;

/** Handlers in a native image are called, and their payloads are read. */
class OutboxHandlerHintsTest {

  record Placed(String id) {}

  static class Handlers {
    @OutboxHandler
    public void placed(Placed placed, OutboxMessage message, StoredMessage stored) {}
  }

  @Test
  void methodsAndPayloadsAreKept() {
    RuntimeHints hints = new RuntimeHints();
    new ReflectiveRuntimeHintsRegistrar().registerRuntimeHints(hints, Handlers.class);
    assertThat(methods(hints, Handlers.class)).containsExactly("placed");
    assertThat(methods(hints, Placed.class)).contains("id");
    assertThat(hints.reflection().getTypeHint(StoredMessage.class)).isNull();
  }

  private static List<String> methods(RuntimeHints hints, Class<?> type) {
    return hints.reflection().getTypeHint(type).methods().map(ExecutableHint::getName).toList();
  }
}
