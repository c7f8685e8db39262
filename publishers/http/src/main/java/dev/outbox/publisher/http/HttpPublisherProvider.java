package dev.outbox.publisher.http;

import static dev.outbox.publisher.core.ProviderProperties.given;
import static dev.outbox.publisher.core.ProviderProperties.words;

import dev.outbox.publisher.core.Attributes;
import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.core.ProviderProperties;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.PublisherProvider;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Opens an {@link HttpPublisher} from the properties of a relay: {@code destination} is the URL of
 * a message.
 */
public final class HttpPublisherProvider implements PublisherProvider {
  private static final String HEADER = "http.header.";
  private static final String MODE = "http.mode";
  private static final String SIGNING_SECRETS = "http.signingSecrets";
  private static final String COPIED_HEADERS = "http.copiedHeaders";
  private static final String MAX_IN_FLIGHT = "http.maxInFlight";

  @Override
  public String name() {
    return "http";
  }

  @Override
  public Set<String> properties() {
    Set<String> names = new TreeSet<>(Destination.properties(Destination.PROPERTY));
    names.addAll(
        Set.of(
            HEADER,
            MODE,
            SIGNING_SECRETS,
            COPIED_HEADERS,
            MAX_IN_FLIGHT,
            Attributes.CLOUD_EVENTS_SOURCE));
    return names;
  }

  @Override
  public MessagePublisher open(Map<String, String> properties, Duration timeout) {
    HttpPublisher.Builder publisher = HttpPublisher.builder().timeout(timeout);
    destination(properties, publisher);
    publisher.cloudEvents(source(properties));
    given(properties, MODE, mode -> mode(mode, publisher));
    given(properties, SIGNING_SECRETS, secrets -> publisher.signingSecrets(words(secrets)));
    given(properties, COPIED_HEADERS, names -> publisher.copiedHeaders(words(names)));
    given(properties, MAX_IN_FLIGHT, most -> publisher.maxInFlight(number(most)));
    ProviderProperties.behind(HEADER, properties).forEach(publisher::header);
    return publisher.build();
  }

  /** The default of other brokers, the aggregate type, is no URL. */
  private static void destination(Map<String, String> properties, HttpPublisher.Builder publisher) {
    String word = Destination.PROPERTY;
    String general = properties.getOrDefault(word, "");
    if (general.isEmpty()) {
      throw new IllegalArgumentException(
          "%s is missing: give the URL of the endpoint, as https://shop.example/{aggregateType}"
              .formatted(word));
    }
    publisher.url(general);
    ProviderProperties.behind(word + ".", properties).values().forEach(Endpoint::ofPattern);
    publisher.destination(Destination.fromProperties(properties));
  }

  private static URI source(Map<String, String> properties) {
    URI source = Attributes.cloudEventsSource(properties, Attributes.CLOUD_EVENTS_SOURCE);
    if (source == null) {
      throw new IllegalArgumentException(
          "%s is missing: give the URI of what sends, as https://shop.example/orders"
              .formatted(Attributes.CLOUD_EVENTS_SOURCE));
    }
    return source;
  }

  private static void mode(String mode, HttpPublisher.Builder publisher) {
    if (mode.equals("structured")) {
      publisher.structured();
    } else if (!mode.equals("binary")) {
      throw new IllegalArgumentException(
          "%s is %s, allowed are binary and structured".formatted(MODE, mode));
    }
  }

  private static int number(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "%s is %s, a whole number is needed".formatted(MAX_IN_FLIGHT, text));
    }
  }
}
