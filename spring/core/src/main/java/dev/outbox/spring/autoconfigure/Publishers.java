package dev.outbox.spring.autoconfigure;

import dev.outbox.Texts;
import dev.outbox.publisher.core.LimitedPublisher;
import dev.outbox.publisher.core.TimeLimits;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RoutingPublisher;
import dev.outbox.relay.RoutingPublisher.Unopened;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.spring.autoconfigure.OutboxProperties.RelaySettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Chooses among the publishers whose jars are there, and opens them. */
final class Publishers {
  static final String PROPERTY = "outbox.publisher";

  private final List<String> names;
  private final RelaySettings relay;
  private final Duration publishTimeout;
  private final Map<String, OfferedPublisher> offered = new LinkedHashMap<>();
  private final @Nullable HandlerMethods handlers;

  /**
   * @param handlers those that there are; null without their jar
   */
  Publishers(
      OutboxProperties properties,
      Iterable<OfferedPublisher> offered,
      @Nullable HandlerMethods handlers) {
    this.names = properties.publisher();
    this.relay = properties.relay();
    this.publishTimeout = relay.effectivePublishTimeout();
    offered.forEach(one -> this.offered.put(one.name(), one));
    this.handlers = handlers == null || handlers.isEmpty() ? null : handlers;
  }

  MessagePublisher open() {
    List<OfferedPublisher> chosen = chosen();
    Duration all = Relay.Builder.defaultPublisherTimeout(publishTimeout);
    int count = chosen.size() + (handlers == null ? 0 : 1);
    Duration limit = count == 1 ? publishTimeout : RoutingPublisher.timeoutOfEach(all);
    List<Unopened> unopened = new ArrayList<>();
    for (OfferedPublisher one : chosen) {
      unopened.add(
          new Unopened(
              one.name(),
              one.settings().types(),
              each -> open(one, each, limit, message -> message.message().aggregateType())));
    }
    if (handlers != null) {
      OfferedPublisher one = handlers.offered();
      unopened.add(
          new Unopened(
              one.name(),
              List.of(),
              chosen.isEmpty() ? null : handlers::takes,
              each -> open(one, each, limit, message -> message.message().eventType())));
    }
    return OutboxConfigurationException.whereRefused(
        "The publishers are refused",
        "Correct outbox.*.types, as outbox.http.types=invoice.",
        () -> RoutingPublisher.open(unopened, all));
  }

  private List<OfferedPublisher> chosen() {
    if (names.isEmpty() && offered.size() > 1) {
      throw new OutboxConfigurationException(
          "There are several publishers on the class path, %s, and none of them is chosen"
              .formatted(String.join(", ", new TreeSet<>(offered.keySet()))),
          "Set outbox.publisher to one of them, or to several with a comma between them, of which all but one have aggregate types, as outbox.http.types=invoice.");
    }
    if (names.isEmpty() && offered.isEmpty() && handlers == null) {
      throw new OutboxConfigurationException(
          "There is no publisher: outbox-publisher-handler is on the class path, and no bean has a method with @OutboxHandler",
          "Add one, or add another publisher, or set outbox.relay.enabled=false where another process publishes.");
    }
    if (names.isEmpty()) {
      return List.copyOf(offered.values());
    }
    Map<String, OfferedPublisher> chosen = new LinkedHashMap<>();
    for (String name : names) {
      OfferedPublisher one = offered.get(name);
      if (one == null) {
        throw missing(name);
      }
      if (chosen.put(name, one) != null) {
        throw new OutboxConfigurationException(
            "%s names %s twice".formatted(PROPERTY, name), "Name each publisher once.");
      }
    }
    return List.copyOf(chosen.values());
  }

  private OutboxConfigurationException missing(String name) {
    return new OutboxConfigurationException(
        "%s names %s, and on the class path %s"
            .formatted(
                PROPERTY,
                name,
                offered.isEmpty()
                    ? "is no publisher"
                    : "are only " + String.join(", ", new TreeSet<>(offered.keySet()))),
        List.of("kafka", "rabbitmq", "nats", "http").contains(name)
            ? "Add dev.outbox:outbox-publisher-%s, or correct the property.".formatted(name)
            : "Name kafka, rabbitmq, nats or http; for a publisher of your own define a MessagePublisher bean.");
  }

  private MessagePublisher open(
      OfferedPublisher one,
      Duration byDefault,
      Duration limit,
      Function<StoredMessage, String> type) {
    return OutboxConfigurationException.whereRefused(
        "The outbox cannot publish to " + one.broker(),
        one.action() + " Set outbox.relay.enabled=false where another process publishes.",
        () ->
            LimitedPublisher.of(
                one.opening().apply(timeout(one, byDefault, limit)),
                one.settings().rate(),
                one.settings().rates(),
                type));
  }

  private Duration timeout(OfferedPublisher one, Duration byDefault, Duration limit) {
    @Nullable Duration given = one.settings().timeout();
    if (given == null && byDefault.compareTo(TimeLimits.SHORTEST_TIMEOUT) < 0) {
      boolean ofLease = relay.publishTimeout() == null;
      throw new IllegalArgumentException(
          "outbox.relay.%s is %s: of that a call of the publisher gets %s, and needs %s: lengthen it; a number without a unit is milliseconds, thirty seconds are 30s"
              .formatted(
                  ofLease ? "lease" : "publish-timeout",
                  Texts.time(ofLease ? relay.effectiveLease() : publishTimeout),
                  Texts.time(byDefault),
                  Texts.time(TimeLimits.SHORTEST_TIMEOUT)));
    }
    boolean alone = limit.equals(publishTimeout);
    if (given != null && given.compareTo(limit) >= (alone ? 0 : 1)) {
      throw new IllegalArgumentException(
          "outbox.%s.timeout is %s, it must be %s: shorten it or lengthen outbox.relay.lease"
              .formatted(
                  one.name(),
                  Texts.time(given),
                  alone
                      ? "below outbox.relay.publish-timeout, which is " + Texts.time(limit)
                      : "at most %s, what outbox.relay.publish-timeout leaves to each of several publishers"
                          .formatted(Texts.time(limit))));
    }
    return given == null ? byDefault : given;
  }
}
