package dev.outbox.spring;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.StoredMessage;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.annotation.ReflectiveProcessor;

/** Methods with {@link OutboxHandler} in a native image: they are called, and Jackson reads. */
final class OutboxHandlerHints implements ReflectiveProcessor {

  @Override
  public void registerReflectionHints(ReflectionHints hints, AnnotatedElement element) {
    Method method = (Method) element;
    hints.registerMethod(method, ExecutableMode.INVOKE);
    for (Class<?> type : method.getParameterTypes()) {
      if (type != OutboxMessage.class && type != StoredMessage.class) {
        new BindingReflectionHintsRegistrar().registerReflectionHints(hints, type);
      }
    }
  }
}
