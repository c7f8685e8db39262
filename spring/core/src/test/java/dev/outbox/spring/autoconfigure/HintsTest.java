package dev.outbox.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.reflection;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.resource;

import dev.outbox.OutboxMessage;
import dev.outbox.payload.OutboxEvent;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.spring.OutboxHandler;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aot.hint.ExecutableHint;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.aot.hint.annotation.ReflectiveRuntimeHintsRegistrar;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.beans.factory.aot.AotServices;
import org.springframework.boot.autoconfigure.AutoConfigurationPackages;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.aot.ApplicationContextAotGenerator;

/** What a native image has. */
class HintsTest {
  private final RuntimeHints hints = new RuntimeHints();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "dev/outbox/store/postgres/changelog.sql",
        "dev/outbox/store/postgres/grants.sql",
        "dev/outbox/store/mongo/changelog.xml",
        "dev/outbox/store/mongo/grants.js"
      })
  void resourcesOfStores(String name) {
    register();
    assertThat(resource().forResource(name)).accepts(hints);
    assertThat(resource().forResource("application.properties")).rejects(hints);
  }

  /** Or an append would not flush. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "jakarta.persistence.EntityManager",
        "org.springframework.orm.jpa.EntityManagerHolder",
        "org.springframework.messaging.Message"
      })
  void typesThatAreLookedFor(String name) {
    register();
    assertThat(reflection().onType(TypeReference.of(name))).accepts(hints);
  }

  private void register() {
    AotServices.factories().load(RuntimeHintsRegistrar.class).stream()
        .filter(OutboxRuntimeHints.class::isInstance)
        .forEach(ours -> ours.registerHints(hints, null));
  }

  /** A key that is no property of a bean. */
  @OutboxEvent(aggregate = "order", key = "number")
  static final class OrderPlaced {
    public String number() {
      return "1";
    }

    public String getTotal() {
      return "12.50";
    }
  }

  @OutboxEvent(aggregate = "order", key = "id")
  sealed interface OrderEvent permits OrderPaid {}

  record OrderPaid(String id) implements OrderEvent {}

  record Other(String id) {}

  @Test
  void eventsOfTheApplication() throws Exception {
    TestGenerationContext generated = new TestGenerationContext(getClass());
    try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
      AutoConfigurationPackages.register(context, getClass().getPackageName());
      new ApplicationContextAotGenerator().processAheadOfTime(context, generated);
    }
    for (Class<?> event : List.of(OrderPlaced.class, OrderPaid.class)) {
      assertThat(
              reflection().onType(event).withMemberCategory(MemberCategory.INVOKE_PUBLIC_METHODS))
          .accepts(generated.getRuntimeHints());
    }
    assertThat(reflection().onType(Other.class)).rejects(generated.getRuntimeHints());
  }

  static class Handlers {
    @OutboxHandler
    public void placed(Other payload, OutboxMessage message, StoredMessage stored) {}
  }

  @Test
  void handlersAndTheirPayloads() {
    new ReflectiveRuntimeHintsRegistrar().registerRuntimeHints(hints, Handlers.class);
    assertThat(methods(Handlers.class)).containsExactly("placed");
    assertThat(methods(Other.class)).contains("id");
    assertThat(hints.reflection().getTypeHint(StoredMessage.class)).isNull();
  }

  private List<String> methods(Class<?> type) {
    return hints.reflection().getTypeHint(type).methods().map(ExecutableHint::getName).toList();
  }
}
