package dev.outbox.spring.autoconfigure;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * The stores' statements and changelogs, and the types that are looked for by their names: a native
 * image leaves them out unless told.
 */
final class OutboxRuntimeHints implements RuntimeHintsRegistrar {

  @Override
  public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
    hints.resources().registerPattern("dev/outbox/store/*/*");
    for (String type :
        List.of(
            "jakarta.persistence.EntityManager",
            "org.springframework.orm.jpa.EntityManagerHolder",
            "org.springframework.messaging.Message")) {
      hints.reflection().registerTypeIfPresent(classLoader, type);
    }
  }
}
