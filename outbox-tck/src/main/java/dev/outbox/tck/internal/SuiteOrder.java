package dev.outbox.tck.internal;

import java.util.Comparator;
import org.junit.jupiter.api.ClassOrderer;
import org.junit.jupiter.api.ClassOrdererContext;

/** Orders classes by their {@link Place}. */
public final class SuiteOrder implements ClassOrderer {
  @Override
  public void orderClasses(ClassOrdererContext context) {
    context
        .getClassDescriptors()
        .sort(Comparator.comparingInt(nested -> place(nested.getTestClass())));
  }

  static int place(Class<?> tests) {
    Place place = tests.getAnnotation(Place.class);
    return place == null ? Place.USUAL : place.value();
  }
}
