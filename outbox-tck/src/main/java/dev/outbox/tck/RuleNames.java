package dev.outbox.tck;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.List;
import org.junit.jupiter.api.DisplayNameGenerator;

/** Names a test by its rule and its sentence: {@code O2: other keys go on}. */
final class RuleNames extends DisplayNameGenerator.Standard {

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
