package dev.outbox.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.aot.hint.annotation.Reflective;

/**
 * A bean's method that handles messages of the outbox; needs {@code outbox-publisher-handler}. Its
 * arguments, in any order: the payload, as an object of the application's class that a {@link
 * PayloadReader} reads; the {@code OutboxMessage}; the {@code StoredMessage}. It returns nothing,
 * and who returns has handled. It is called by many threads at once, for messages of different
 * keys, and may be called again for a message.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@Reflective(OutboxHandlerHints.class)
public @interface OutboxHandler {

  /**
   * The event types that it handles. Default: that of the payload's class, which its
   * {@code @OutboxEvent} names, or else its simple name.
   */
  String[] value() default {};
}
