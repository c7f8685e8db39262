package dev.outbox.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.reflection;

import dev.outbox.payload.OutboxEvent;
import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.boot.autoconfigure.AutoConfigurationPackages;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.aot.ApplicationContextAotGenerator;

class OutboxEventHintsTest {

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
  void aNativeImageKnowsTheEventsOfTheApplication() throws Exception {
    RuntimeHints hints;
    try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
      AutoConfigurationPackages.register(context, getClass().getPackageName());
      TestGenerationContext generated = new TestGenerationContext(getClass());
      new ApplicationContextAotGenerator().processAheadOfTime(context, generated);
      hints = generated.getRuntimeHints();
    }
    for (Class<?> event : new Class<?>[] {OrderPlaced.class, OrderPaid.class}) {
      assertThat(
              reflection().onType(event).withMemberCategory(MemberCategory.INVOKE_PUBLIC_METHODS))
          .accepts(hints);
    }
    assertThat(reflection().onType(Other.class)).rejects(hints);
  }
}
