package dev.outbox.spring.autoconfigure;

import static java.util.Objects.requireNonNull;

import dev.outbox.publisher.core.Attributes;
import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.core.ProviderProperties;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.PublisherProvider;
import dev.outbox.spring.autoconfigure.OutboxProperties.PublisherSettings;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What a publisher is told, in the words of a relay's properties: the same for all brokers. */
final class PublisherProperties {
  private final Map<String, String> values = new TreeMap<>();

  /**
   * Takes the destinations from the publisher's own settings, or else from those for all. A
   * publisher with a destination of its own, such as a URL, could not use those of other brokers.
   */
  PublisherProperties(OutboxProperties all, PublisherSettings own) {
    if (own.destination() == null) {
      patterns(Destination.PROPERTY, all.destination(), all.destinations());
    }
    patterns(Destination.PROPERTY, own.destination(), own.destinations());
  }

  PublisherProperties patterns(String word, @Nullable String all, Map<String, String> byType) {
    given(word, all);
    return under(word + ".", byType);
  }

  PublisherProperties given(String name, @Nullable Object value) {
    if (value != null) {
      values.put(name, value.toString());
    }
    return this;
  }

  PublisherProperties cloudEventsSource(@Nullable Object source) {
    return given(Attributes.CLOUD_EVENTS_SOURCE, source);
  }

  PublisherProperties list(String name, Iterable<String> several) {
    String joined = String.join(",", several);
    return given(name, joined.isEmpty() ? null : joined);
  }

  PublisherProperties under(String prefix, Map<String, String> more) {
    more.forEach((name, value) -> values.put(prefix + name, value));
    return this;
  }

  Destination destination() {
    return Destination.fromProperties(values);
  }

  /**
   * @param word for which a pattern is given
   */
  Destination patterns(String word) {
    return Destination.fromProperties(values, word, requireNonNull(values.get(word)));
  }

  /**
   * Opens the publisher of a provider.
   *
   * @throws IllegalArgumentException naming a setting that it does not know, or refuses
   */
  MessagePublisher open(PublisherProvider provider, Duration timeout) {
    Set<String> known = provider.properties();
    for (String name : values.keySet()) {
      if (!ProviderProperties.isOneOf(known, name)) {
        throw new IllegalArgumentException(
            "%s is no setting of it, those are %s".formatted(name, String.join(", ", known)));
      }
    }
    return provider.open(values, timeout);
  }
}
