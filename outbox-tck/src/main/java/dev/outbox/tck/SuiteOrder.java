package dev.outbox.tck;

import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.ClassDescriptor;
import org.junit.jupiter.api.ClassOrderer;
import org.junit.jupiter.api.ClassOrdererContext;

/**
 * The tests of the fixture first, because nothing else can be believed when they fail; then those
 * of decisions and of settle, which are quick, and without which the others wait in vain until
 * there is no time left; random stories last, because they take long to shrink what a test says in
 * a moment.
 */
final class SuiteOrder implements ClassOrderer {

  @Override
  public void orderClasses(ClassOrdererContext context) {
    context.getClassDescriptors().sort(Comparator.comparingInt(SuiteOrder::place));
  }

  private static final List<Class<?>> FIRST =
      List.of(FixtureTests.class, InboxFixtureTests.class, DecisionTests.class, SettleTests.class);

  private static final List<Class<?>> LAST =
      List.of(OutboxStoreProperties.class, InboxStoreProperties.class);

  private static int place(ClassDescriptor nested) {
    Class<?> type = nested.getTestClass();
    for (int i = 0; i < FIRST.size(); i++) {
      if (FIRST.get(i).isAssignableFrom(type)) {
        return i;
      }
    }
    return LAST.stream().anyMatch(last -> last.isAssignableFrom(type))
        ? Integer.MAX_VALUE
        : FIRST.size();
  }
}
