package dev.outbox.tck;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The rules of {@code SPEC.md} that a test tests, or that a deliberately broken implementation
 * breaks. On a class of tests: of those that name no other.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface Rule {

  /** As {@code C1}; one as a rule. */
  String[] value();
}
