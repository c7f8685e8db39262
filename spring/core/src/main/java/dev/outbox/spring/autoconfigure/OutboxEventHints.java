package dev.outbox.spring.autoconfigure;

import dev.outbox.payload.OutboxEvent;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotContribution;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotProcessor;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurationPackages;
import org.springframework.context.annotation.ClassPathScanningCandidateComponentProvider;
import org.springframework.core.type.filter.AnnotationTypeFilter;
import org.springframework.util.ClassUtils;

/**
 * The application's classes with {@link OutboxEvent}, in a native image: their keys are read by
 * name, and Jackson writes them.
 */
final class OutboxEventHints implements BeanFactoryInitializationAotProcessor {

  @Override
  public @Nullable BeanFactoryInitializationAotContribution processAheadOfTime(
      ConfigurableListableBeanFactory beans) {
    if (!AutoConfigurationPackages.has(beans)) {
      return null;
    }
    List<Class<?>> events =
        events(AutoConfigurationPackages.get(beans), beans.getBeanClassLoader());
    return events.isEmpty()
        ? null
        : (generation, code) -> register(generation.getRuntimeHints().reflection(), events);
  }

  private static List<Class<?>> events(List<String> packages, @Nullable ClassLoader loader) {
    ClassPathScanningCandidateComponentProvider scanner =
        new ClassPathScanningCandidateComponentProvider(false);
    scanner.addIncludeFilter(new AnnotationTypeFilter(OutboxEvent.class, false, true));
    List<Class<?>> events = new ArrayList<>();
    for (String name : packages) {
      for (BeanDefinition found : scanner.findCandidateComponents(name)) {
        events.add(ClassUtils.resolveClassName(String.valueOf(found.getBeanClassName()), loader));
      }
    }
    return events;
  }

  private static void register(ReflectionHints hints, List<Class<?>> events) {
    for (Class<?> event : events) {
      hints.registerType(event, MemberCategory.INVOKE_PUBLIC_METHODS);
      new BindingReflectionHintsRegistrar().registerReflectionHints(hints, event);
    }
  }
}
