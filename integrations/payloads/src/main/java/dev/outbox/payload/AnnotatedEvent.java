package dev.outbox.payload;

import dev.outbox.Header;
import dev.outbox.InvalidMessageException;
import dev.outbox.OutboxMessage;
import dev.outbox.PermanentOutboxException;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** What {@link OutboxEvent} says of one class; looked up once. */
final class AnnotatedEvent implements BiConsumer<OutboxMessage.Builder, Object> {
  private final Class<?> type;
  private final OutboxEvent annotation;
  private final Property key;

  private interface Property {
    @Nullable Object of(Object event) throws ReflectiveOperationException;
  }

  private AnnotatedEvent(Class<?> type, OutboxEvent annotation) {
    this.type = type;
    this.annotation = annotation;
    this.key = property(type, annotation.key());
  }

  /**
   * Reads the annotation.
   *
   * @throws PermanentOutboxException when there is none, there are several that differ, or its key
   *     is no property of the class
   */
  static AnnotatedEvent of(Class<?> type) {
    OutboxEvent own = type.getAnnotation(OutboxEvent.class); // or of a superclass
    if (own != null) {
      return new AnnotatedEvent(type, own);
    }
    Set<OutboxEvent> inherited = new LinkedHashSet<>();
    collect(type, inherited);
    if (inherited.isEmpty()) {
      throw new PermanentOutboxException(
          "%s has no @OutboxEvent, and OutboxEvents has no function for it: give it one of both"
              .formatted(type.getName()));
    }
    if (inherited.size() > 1) {
      throw new PermanentOutboxException(
          "%s has several interfaces with @OutboxEvent, and they differ: annotate the class itself"
              .formatted(type.getName()));
    }
    return new AnnotatedEvent(type, inherited.iterator().next());
  }

  private static void collect(Class<?> type, Set<OutboxEvent> found) {
    for (Class<?> above : type.getInterfaces()) {
      OutboxEvent annotation = above.getAnnotation(OutboxEvent.class);
      if (annotation != null) {
        found.add(annotation);
      } else {
        collect(above, found);
      }
    }
    if (type.getSuperclass() != null) {
      collect(type.getSuperclass(), found);
    }
  }

  @Override
  public void accept(OutboxMessage.Builder message, Object event) {
    message.aggregate(annotation.aggregate(), keyOf(event));
    if (!annotation.type().isEmpty()) {
      message.eventType(annotation.type());
    }
    if (!annotation.schema().isEmpty()) {
      message.header(Header.DATA_SCHEMA, annotation.schema());
    }
  }

  private String keyOf(Object event) {
    Object value;
    try {
      value = key.of(event);
    } catch (ReflectiveOperationException e) {
      Throwable cause = e instanceof InvocationTargetException ? e.getCause() : e;
      throw new PermanentOutboxException(
          "the key %s of %s cannot be read: %s".formatted(annotation.key(), type.getName(), cause),
          cause);
    }
    if (value == null) {
      throw new InvalidMessageException(
          "the key %s of %s is null: give the event its aggregate's id before you append it"
              .formatted(annotation.key(), type.getName()));
    }
    if (!isText(value)) {
      throw new PermanentOutboxException(
          "the key %s of %s is a %s: make it a text, a number, a UUID or an enum, or use a function"
              .formatted(annotation.key(), type.getName(), value.getClass().getName()));
    }
    return value.toString();
  }

  /**
   * Other types are refused as keys: their texts may differ from object to object, and with them
   * the order.
   */
  private static boolean isText(Object value) {
    return value instanceof CharSequence
        || value instanceof Number
        || value instanceof UUID
        || value instanceof Enum<?>;
  }

  private static Property property(Class<?> type, String name) {
    if (!name.isEmpty()) {
      String getter = "get" + name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
      for (String method : new String[] {name, getter}) {
        try {
          Method found = type.getMethod(method);
          if (found.getReturnType() != void.class) {
            return open(type, found)::invoke;
          }
        } catch (NoSuchMethodException e) {
          // the next one
        }
      }
      try {
        Field found = type.getField(name);
        return open(type, found)::get;
      } catch (NoSuchFieldException e) {
        // none
      }
    }
    throw new PermanentOutboxException(
        "%s has no property %s, which its @OutboxEvent names as the key: there is no such record component, public method or public field"
            .formatted(type.getName(), name.isEmpty() ? "\"\"" : name));
  }

  /** A public member of a class that is not public can be used only so. */
  private static <M extends AccessibleObject> M open(Class<?> type, M member) {
    if (!member.trySetAccessible()) {
      throw new PermanentOutboxException(
          "the module of %s does not open its package: open it to dev.outbox.payload, or use a function"
              .formatted(type.getName()));
    }
    return member;
  }
}
