package dev.outbox.cli;

import dev.outbox.publisher.core.LimitedPublisher;
import dev.outbox.publisher.core.ProviderProperties;
import dev.outbox.relay.RoutingPublisher;
import dev.outbox.relay.RoutingPublisher.Unopened;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.PublisherProvider;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The publishers that a relay's properties name: one, or several by aggregate type. A property of a
 * publisher is for all that read it; with {@code publisher.NAME.} before it, for that one alone.
 */
final class Publishers {
  static final String NAMES = "publisher";

  /** Names the settings of plugins, which the broker's client hands on and does not know. */
  static final String PLUGINS = "publisher.pluginProperties";

  static final String DEFAULT = "kafka";
  private static final String KIND = "kind";
  private static final String TYPES = "types";
  private static final String RATE_OF = LimitedPublisher.PROPERTY + ".";
  private static final Set<String> RATES = Set.of(LimitedPublisher.PROPERTY, RATE_OF);

  private final Map<String, String> values;
  private final List<Named> all;

  /**
   * One of them.
   *
   * @param types what it takes; empty: what no other one does
   */
  private record Named(String name, PublisherProvider provider, List<String> types) {
    /** Before the properties that are for this one alone. */
    String prefix() {
      return NAMES + "." + name + ".";
    }

    String client() {
      return provider.name() + ".";
    }
  }

  private Publishers(Map<String, String> values, List<Named> all) {
    this.values = values;
    this.all = all;
  }

  /**
   * Finds them.
   *
   * @throws Failure naming the property
   */
  static Publishers of(Map<String, String> values) {
    List<PublisherProvider> found = Providers.publishers();
    List<String> names = list(values.getOrDefault(NAMES, DEFAULT));
    Map<String, Named> all = new LinkedHashMap<>();
    for (String name : names) {
      String own = NAMES + "." + name + ".";
      PublisherProvider provider = provider(values.getOrDefault(own + KIND, name), found);
      List<String> types = list(values.getOrDefault(own + TYPES, ""));
      if (all.put(name, new Named(name, provider, types)) != null) {
        throw new Failure("the property %s names %s twice".formatted(NAMES, name));
      }
    }
    if (all.isEmpty()) {
      throw new Failure("the property %s is empty: name a publisher".formatted(NAMES));
    }
    return new Publishers(values, List.copyOf(all.values()));
  }

  /** The parts between commas. */
  static List<String> list(String text) {
    return Arrays.stream(text.split(",")).map(String::strip).filter(p -> !p.isEmpty()).toList();
  }

  private static PublisherProvider provider(String kind, List<PublisherProvider> found) {
    return found.stream()
        .filter(one -> one.name().equals(kind))
        .findFirst()
        .orElseThrow(
            () ->
                new Failure(
                    "the property %s is %s, those that were found are %s: put the jars of another one on the class path"
                        .formatted(
                            NAMES, kind, found.stream().map(PublisherProvider::name).toList())));
  }

  /** The names of the properties that they read; one that ends in a dot stands for many. */
  Set<String> known() {
    Set<String> known = new TreeSet<>();
    for (Named one : all) {
      addWithPrefix(one, one.provider.properties(), known);
      addWithPrefix(one, RATES, known);
      known.add(one.prefix() + KIND);
      known.add(one.prefix() + TYPES);
    }
    return known;
  }

  /** The same for plugins. */
  Set<String> plugins() {
    Set<String> plugins = new TreeSet<>();
    all.forEach(one -> addWithPrefix(one, plugins(one), plugins));
    return plugins;
  }

  private static void addWithPrefix(Named one, Set<String> names, Set<String> all) {
    all.addAll(names);
    names.forEach(name -> all.add(one.prefix() + name));
  }

  private Set<String> plugins(Named one) {
    Set<String> plugins = new TreeSet<>();
    for (String plugin : list(values.getOrDefault(PLUGINS, ""))) {
      plugins.add(one.client() + plugin);
    }
    return plugins;
  }

  /** The publisher whose setting it is, where that one is not used. */
  static Optional<String> unused(String name, Set<String> known) {
    return Providers.publishers().stream()
        .map(PublisherProvider::name)
        .filter(kind -> name.startsWith(kind + "."))
        .filter(kind -> known.stream().noneMatch(other -> other.startsWith(kind + ".")))
        .findFirst();
  }

  /** Whether it looks like a setting of a broker's client. */
  boolean isOfClient(String name) {
    return all.stream()
        .anyMatch(
            one -> name.startsWith(one.client()) || name.startsWith(one.prefix() + one.client()));
  }

  /** With the properties that it reads; those for it alone win. */
  private MessagePublisher open(Named one, Duration timeout) {
    Map<String, String> all = new TreeMap<>(values);
    all.putAll(ProviderProperties.behind(one.prefix(), values));
    Set<String> reads = new TreeSet<>(one.provider.properties());
    reads.addAll(plugins(one));
    Map<String, String> own = new TreeMap<>(all);
    own.keySet().removeIf(name -> !ProviderProperties.isOneOf(reads, name));
    return LimitedPublisher.of(
        one.provider.open(own, timeout),
        all.get(LimitedPublisher.PROPERTY),
        ProviderProperties.behind(RATE_OF, all),
        message -> message.message().aggregateType());
  }

  /** Of several, an error names the publisher: the names of settings do not say whose they are. */
  private MessagePublisher openNamed(Named one, Duration timeout) {
    try {
      return open(one, timeout);
    } catch (IllegalArgumentException e) {
      throw all.size() == 1
          ? e
          : new IllegalArgumentException(
              "the publisher %s: %s".formatted(one.name, e.getMessage()), e);
    }
  }

  /**
   * Opens them.
   *
   * @param timeout of one call, whatever their number
   */
  MessagePublisher open(Duration timeout) {
    return RoutingPublisher.open(
        all.stream()
            .map(one -> new Unopened(one.name, one.types, each -> openNamed(one, each)))
            .toList(),
        timeout);
  }
}
