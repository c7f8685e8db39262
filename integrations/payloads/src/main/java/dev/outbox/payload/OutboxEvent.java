package dev.outbox.payload;

import dev.outbox.Header;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Says of an event's class what its messages are about; {@link OutboxEvents} reads it. On a
 * superclass or an interface, as a sealed one, it holds for all events below it that have none of
 * their own.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface OutboxEvent {

  /** The aggregate's type, as {@code order}: with Kafka the topic, unless the relay says else. */
  String aggregate();

  /**
   * The name of the property whose value is the aggregate's id: messages with the same are
   * delivered in order. For {@code orderId} that is a record's component, a public method {@code
   * orderId()} or {@code getOrderId()}, or a public field. It is a name, not an expression. Its
   * value is a text, a number, a UUID or an enum; for anything else use a function ({@link
   * OutboxEvents.Builder#event}).
   */
  String key();

  /**
   * The event's type. Default: the simple name of the event's class, which changes when the class
   * is renamed.
   */
  String type() default "";

  /**
   * Which schema the payload follows, an absolute URI: the message gets it as the header {@link
   * Header#DATA_SCHEMA}. Default: none.
   */
  String schema() default "";
}
