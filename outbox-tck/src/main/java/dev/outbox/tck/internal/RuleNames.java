package dev.outbox.tck.internal;

import dev.outbox.tck.Rule;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DisplayNameGenerator;

/** Names a test by its rule and its sentence: {@code O2: other keys go on}. */
public final class RuleNames extends DisplayNameGenerator.Standard {

  /** The name of the tests that it runs. */
  @Override
  public String generateDisplayNameForNestedClass(List<Class<?>> enclosing, Class<?> type) {
    DisplayName name = type.getSuperclass().getAnnotation(DisplayName.class);
    return name == null ? super.generateDisplayNameForNestedClass(enclosing, type) : name.value();
  }

  @Override
  public String generateDisplayNameForMethod(
      List<Class<?>> enclosing, Class<?> type, Method method) {
    Sentence sentence = method.getAnnotation(Sentence.class);
    return sentence == null
        ? super.generateDisplayNameForMethod(enclosing, type, method)
        : prefix(method) + sentence.value();
  }

  /** {@code O2: }, or nothing. */
  static String prefix(AnnotatedElement test) {
    Rule rule = test.getAnnotation(Rule.class);
    return rule == null ? "" : String.join(", ", rule.value()) + ": ";
  }
}
