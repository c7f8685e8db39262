package dev.outbox.tck;

import java.util.Comparator;
import org.junit.jupiter.api.ClassDescriptor;
import org.junit.jupiter.api.ClassOrderer;
import org.junit.jupiter.api.ClassOrdererContext;

/**
 * The tests of the fixture first, because nothing else can be believed when they fail; random
 * stories last, because they take long to shrink what a test says in a moment.
 */
final class SuiteOrder implements ClassOrderer {

  @Override
  public void orderClasses(ClassOrdererContext context) {
    context.getClassDescriptors().sort(Comparator.comparingInt(SuiteOrder::place));
  }

  private static int place(ClassDescriptor nested) {
    Class<?> type = nested.getTestClass();
    if (FixtureTests.class.isAssignableFrom(type)
        || InboxFixtureTests.class.isAssignableFrom(type)) {
      return 0;
    }
    return OutboxStoreProperties.class.isAssignableFrom(type)
            || InboxStoreProperties.class.isAssignableFrom(type)
        ? 2
        : 1;
  }
}
