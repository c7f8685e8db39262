package dev.outbox.tck.internal;

import static java.util.Locale.ROOT;

import dev.outbox.tck.Rule;
import java.lang.reflect.Method;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DisplayNameGenerator;

/** Names a test by its rule and its sentence: {@code O2: other keys go on}. */
public final class RuleNames extends DisplayNameGenerator.Standard {
  private static final Pattern CAPITAL = Pattern.compile("(?<!^)[A-Z]");

  /** That of the tests that it runs, or else its own in words: {@code Dead letters}. */
  @Override
  public String generateDisplayNameForNestedClass(List<Class<?>> enclosing, Class<?> type) {
    DisplayName name = type.getSuperclass().getAnnotation(DisplayName.class);
    return name == null
        ? CAPITAL.matcher(type.getSimpleName()).replaceAll(c -> " " + c.group().toLowerCase(ROOT))
        : name.value();
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

  /** The rules of a test that a failure of it begins with, or else all. */
  public static List<String> rules(Method test, String failure) {
    List<String> beginning = beginning(failure);
    return rules(test).containsAll(beginning) ? beginning : rules(test);
  }

  /** The failure, which begins with rules of the test. */
  static String told(Method test, String failure) {
    return rules(test).containsAll(beginning(failure)) ? failure : prefix(test) + failure;
  }

  private static List<String> beginning(String failure) {
    return List.of(failure.split(":", 2)[0].split(", "));
  }

  /** {@code O2: }, or nothing. */
  private static String prefix(Method test) {
    List<String> rules = rules(test);
    return rules.isEmpty() ? "" : String.join(", ", rules) + ": ";
  }
}
