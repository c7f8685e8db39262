package dev.outbox.spring.autoconfigure;

import dev.outbox.OutboxMessage;
import dev.outbox.payload.OutboxEvent;
import dev.outbox.publisher.handler.MessageHandler;
import dev.outbox.publisher.handler.RejectedException;
import dev.outbox.publisher.handler.UnavailableException;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.spring.OutboxHandler;
import dev.outbox.spring.PayloadReader;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.ReflectionUtils;

/** A bean's method with {@link OutboxHandler}. */
final class HandlerMethod implements MessageHandler {
  private final BeanFactory beans;
  private final String bean;
  private final Method method;
  private final ObjectProvider<PayloadReader> reader;
  private final List<Class<?>> arguments;
  private final List<String> eventTypes;

  /**
   * @param type of the bean; its superclass may have the method, with an argument of a type
   *     variable
   * @throws OutboxConfigurationException when the method cannot be a handler, saying why
   */
  HandlerMethod(
      BeanFactory beans,
      String bean,
      Class<?> type,
      Method method,
      OutboxHandler annotation,
      ObjectProvider<PayloadReader> reader) {
    this.beans = beans;
    this.bean = bean;
    this.method = method;
    this.reader = reader;
    arguments =
        IntStream.range(0, method.getParameterCount())
            .<Class<?>>mapToObj(i -> ResolvableType.forMethodParameter(method, i, type).toClass())
            .toList();
    if (method.getReturnType() != void.class) {
      throw refused(
          "returns something (as a suspend function does), and who returns has handled",
          "Let it be an ordinary function that returns nothing");
    }
    if (AnnotatedElementUtils.hasAnnotation(method, Async.class)
        || AnnotatedElementUtils.hasAnnotation(type, Async.class)) {
      throw refused("is @Async, and who returns has handled", "Take @Async from it");
    }
    if (Modifier.isStatic(method.getModifiers()) || Modifier.isPrivate(method.getModifiers())) {
      throw refused("is static or private", "Make it a method that can be called from outside");
    }
    List<Class<?>> payloads =
        arguments.stream()
            .filter(argument -> argument != OutboxMessage.class && argument != StoredMessage.class)
            .toList();
    if (payloads.size() > 1) {
      throw refused(
          "has several arguments for the payload",
          "Leave it one, beside an OutboxMessage and a StoredMessage");
    }
    if (!payloads.isEmpty() && reader.getIfAvailable() == null) {
      throw refused(
          "has an argument for the payload, and nothing reads it",
          "Add spring-boot-starter-jackson, on Boot 3.5 spring-boot-starter-json, or define a PayloadReader bean");
    }
    eventTypes =
        annotation.value().length > 0
            ? List.of(annotation.value())
            : List.of(eventType(payloads.isEmpty() ? null : payloads.get(0)));
  }

  private String eventType(@Nullable Class<?> payload) {
    if (payload == null
        || payload == String.class
        || payload == Object.class
        || Modifier.isAbstract(payload.getModifiers())) { // as byte[] is
      throw refused(
          "does not say which event types it handles",
          "Name them, as @OutboxHandler(\"OrderPlaced\"), or give it an argument of the event's class");
    }
    OutboxEvent event = AnnotatedElementUtils.findMergedAnnotation(payload, OutboxEvent.class);
    return event == null || event.type().isEmpty() ? payload.getSimpleName() : event.type();
  }

  List<String> eventTypes() {
    return eventTypes;
  }

  /**
   * Looks whether a bean of this type can be called; its proxy may have fewer methods than itself.
   *
   * @throws OutboxConfigurationException when it cannot
   */
  void check(Class<?> proxied) {
    if (Modifier.isFinal(method.getModifiers())
        && SpringProxy.class.isAssignableFrom(proxied)
        && !Proxy.isProxyClass(proxied)) {
      throw refused(
          "is final, so that the proxy of its bean %s cannot pass the call on".formatted(bean),
          "Take final from it");
    }
    try {
      Method ignored = AopUtils.selectInvocableMethod(method, proxied);
    } catch (IllegalStateException e) {
      throw refused(
          "is on no interface of its bean %s, which is behind a proxy of its interfaces"
              .formatted(bean),
          "Declare it, with the same arguments, on an interface that the bean's class implements, or let Spring make proxies of classes, as with spring.aop.proxy-target-class=true");
    }
  }

  String bean() {
    return bean;
  }

  private OutboxConfigurationException refused(String problem, String action) {
    return new OutboxConfigurationException(
        "The handler %s %s".formatted(this, problem), action + ".");
  }

  @Override
  public void handle(StoredMessage message) throws Exception {
    Object target = beans.getBean(bean);
    Method invocable = AopUtils.selectInvocableMethod(method, target.getClass());
    ReflectionUtils.makeAccessible(invocable);
    try {
      Object ignored =
          invocable.invoke(target, arguments.stream().map(a -> argument(message, a)).toArray());
    } catch (InvocationTargetException e) {
      ReflectionUtils.rethrowException(e.getCause());
    }
  }

  private Object argument(StoredMessage message, Class<?> type) {
    if (type == StoredMessage.class) {
      return message;
    }
    return type == OutboxMessage.class ? message.message() : payload(message, type);
  }

  private Object payload(StoredMessage message, Class<?> type) {
    PayloadReader reads = reader.getObject(); // its failure is no fault of the payload
    try {
      return reads.read(message.message(), type);
    } catch (UnavailableException | RejectedException e) {
      throw e;
    } catch (Exception e) {
      throw new RejectedException("the payload is no %s: %s".formatted(type.getName(), e), e);
    }
  }

  @Override
  public String toString() {
    return method.getDeclaringClass().getSimpleName() + "." + method.getName();
  }
}
