package dev.outbox.spring;

import java.util.Optional;
import java.util.stream.Stream;
import org.springframework.util.ClassUtils;

/** Types of Boot's auto-configurations, whose packages have moved between the generations. */
public final class BootType {
  private BootType() {}

  /**
   * @param module as {@code kafka}
   * @param name as {@code KafkaConnectionDetails}
   */
  public static Class<?> of(String module, String name) {
    return find(module, name).orElseThrow();
  }

  static Optional<Class<?>> find(String module, String name) {
    return Stream.of("autoconfigure." + module, module + ".autoconfigure")
        .map(part -> "org.springframework.boot.%s.%s".formatted(part, name))
        .filter(type -> ClassUtils.isPresent(type, null))
        .<Class<?>>map(type -> ClassUtils.resolveClassName(type, null))
        .findFirst();
  }
}
