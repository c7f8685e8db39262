package dev.outbox.tck.internal;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Comparator;
import org.junit.jupiter.api.ClassOrderer;
import org.junit.jupiter.api.ClassOrdererContext;

/**
 * When the tests of a class run. Those of decisions and of settle come early, because they are
 * quick, and without what they test the others wait in vain until there is no time left.
 */
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface Place {
  /** The tests of the fixture: nothing else can be believed when they fail. */
  int FIXTURE = 0;

  int USUAL = 100;

  /** Random stories take long to shrink what a test says in a moment. */
  int LAST = 200;

  int value();

  /** Orders classes by their places. */
  final class Order implements ClassOrderer {
    @Override
    public void orderClasses(ClassOrdererContext context) {
      context.getClassDescriptors().sort(Comparator.comparingInt(c -> of(c.getTestClass())));
    }

    static int of(Class<?> tests) {
      Place place = tests.getAnnotation(Place.class);
      return place == null ? USUAL : place.value();
    }
  }
}
