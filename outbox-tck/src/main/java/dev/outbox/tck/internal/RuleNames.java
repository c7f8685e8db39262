package dev.outbox.tck.internal;

import dev.outbox.tck.Rule;
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

  /** The rules of a test: its own, or those of its class. */
  public static List<String> rules(Method test) {
    Rule rule = test.getAnnotation(Rule.class);
    rule = rule == null ? test.getDeclaringClass().getAnnotation(Rule.class) : rule;
    return rule == null ? List.of() : List.of(rule.value());
  }

  /** {@code O2: }, or nothing. */
  static String prefix(Method test) {
    List<String> rules = rules(test);
    return rules.isEmpty() ? "" : String.join(", ", rules) + ": ";
  }
}
