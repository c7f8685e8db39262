package dev.outbox.spring.autoconfigure;

import dev.outbox.publisher.handler.HandlerPublisher;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.spring.OutboxHandler;
import dev.outbox.spring.PayloadReader;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.MethodIntrospector.MetadataLookup;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;

/** The methods with {@link OutboxHandler} of all beans, by event type. */
final class HandlerMethods implements SmartInitializingSingleton {
  private static final MetadataLookup<@Nullable OutboxHandler> ANNOTATION =
      method -> AnnotatedElementUtils.findMergedAnnotation(method, OutboxHandler.class);

  private final ListableBeanFactory beans;
  private final OutboxProperties.Handlers settings;
  private final Map<String, HandlerMethod> byType = new TreeMap<>();

  /**
   * Looks at the types of all beans, and makes none.
   *
   * @throws OutboxConfigurationException when a method cannot be a handler, or two are one's
   */
  HandlerMethods(
      OutboxProperties.Handlers settings,
      ListableBeanFactory beans,
      ObjectProvider<PayloadReader> reader) {
    this.beans = beans;
    this.settings = settings;
    for (String bean : beans.getBeanNamesForType(Object.class, true, false)) {
      Class<?> type = type(beans, bean);
      if (type != null && !ScopedProxyUtils.isScopedTarget(bean)) {
        Class<?> user = ClassUtils.getUserClass(type);
        methods(user)
            .forEach(
                (method, annotation) ->
                    add(new HandlerMethod(beans, bean, user, method, annotation, reader)));
      }
    }
  }

  /** Only now are the proxies known. A bean that is made later is checked when it is called. */
  @Override
  public void afterSingletonsInstantiated() {
    for (HandlerMethod method : byType.values()) {
      Class<?> type = beans.getType(method.bean(), false);
      if (type != null) {
        method.check(type);
      }
    }
  }

  /** Behind a proxy of its interfaces, too. */
  private static @Nullable Class<?> type(ListableBeanFactory beans, String bean) {
    Class<?> type = beans.getType(bean, false);
    return type != null
            && Proxy.isProxyClass(type)
            && beans instanceof ConfigurableListableBeanFactory factory
        ? AutoProxyUtils.determineTargetClass(factory, bean)
        : type;
  }

  private static Map<Method, OutboxHandler> methods(Class<?> type) {
    try {
      return AnnotationUtils.isCandidateClass(type, OutboxHandler.class)
          ? MethodIntrospector.selectMethods(type, ANNOTATION)
          : Map.of();
    } catch (IllegalStateException | LinkageError e) { // of a bean that may never be made
      return Map.of();
    }
  }

  private void add(HandlerMethod method) {
    for (String type : method.eventTypes()) {
      HandlerMethod other = byType.putIfAbsent(type, method);
      if (other != null) {
        throw new OutboxConfigurationException(
            "Both %s of the bean %s and %s of the bean %s handle the event type %s"
                .formatted(other, other.bean(), method, method.bean(), type),
            "Leave one of them out, or let it handle another type.");
      }
    }
  }

  boolean isEmpty() {
    return byType.isEmpty();
  }

  /** Whether one of them handles it. */
  boolean takes(StoredMessage message) {
    return byType.containsKey(message.message().eventType());
  }

  OfferedPublisher offered() {
    return new OfferedPublisher(
        "handlers", "handlers", "Correct outbox.handlers.*.", settings, this::open);
  }

  private MessagePublisher open(Duration timeout) {
    HandlerPublisher.Builder publisher = HandlerPublisher.builder().timeout(timeout);
    byType.forEach(publisher::on);
    if (settings.concurrency() != null) {
      publisher.concurrency(settings.concurrency());
    }
    return publisher.build();
  }
}
