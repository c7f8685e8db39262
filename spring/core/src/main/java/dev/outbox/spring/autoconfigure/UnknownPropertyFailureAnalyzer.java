package dev.outbox.spring.autoconfigure;

import dev.outbox.Texts;
import java.lang.reflect.RecordComponent;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Says which property {@code outbox.…} there is not, and which one may be meant. To Boot one that
 * is empty where no text is meant is one, too. It does not show the value: it may be a password.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class UnknownPropertyFailureAnalyzer extends AbstractFailureAnalyzer<BindException> {
  private static final String PREFIX = "outbox";

  @Override
  protected @Nullable FailureAnalysis analyze(Throwable rootFailure, BindException cause) {
    if (!cause.getName().toString().equals(PREFIX)
        || !(cause.getCause() instanceof UnboundConfigurationPropertiesException unbound)) {
      return null;
    }
    Set<String> known = new TreeSet<>();
    collect(PREFIX, OutboxProperties.class, known);
    return new FailureAnalysis(
        unbound.getUnboundProperties().stream()
            .map(property -> sentence(property, known))
            .collect(Collectors.joining(System.lineSeparator())),
        "Correct the property, or take it away.",
        cause);
  }

  private static String sentence(ConfigurationProperty property, Set<String> known) {
    String name = property.getName().toString();
    String from = property.getOrigin() == null ? "" : ", from " + property.getOrigin();
    return known.contains(name)
        ? "The property %s is empty%s: give it a value.".formatted(name, from)
        : "There is no property %s%s: did you mean %s?"
            .formatted(name, from, Texts.closest(name, known));
  }

  /** The names of all; behind one that ends in a star anything may stand. */
  private static void collect(String prefix, Class<?> type, Set<String> names) {
    for (RecordComponent component : type.getRecordComponents()) {
      String name = prefix + "." + DataObjectPropertyName.toDashedForm(component.getName());
      if (component.getType().isRecord()) {
        collect(name, component.getType(), names);
      } else {
        names.add(component.getType() == Map.class ? name + ".*" : name);
      }
    }
  }
}
