package dev.outbox.cli;

import dev.outbox.Archive;
import dev.outbox.OutboxException;
import dev.outbox.Texts;
import dev.outbox.publisher.core.ProviderProperties;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RetryPolicy;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoreProvider;
import dev.outbox.spi.store.StoreProvider.History;
import dev.outbox.spi.store.StoreProvider.Opened;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What stands in a relay's properties file; {@code relay.properties} beside this class explains it.
 */
final class RelayConfig {
  /** Some supervisors kill after 20 s, and the publisher and the pool close after the relay. */
  static final Duration STOP_TIMEOUT = Duration.ofSeconds(12);

  private static final String INBOX_PREFIX = "store.inboxPrefix";
  private static final String ARCHIVE = "store.archive";

  private static final String PORT = "server.port";
  private static final String PAGE = "ui.enabled";
  private static final String CHANGES = "ui.allowChanges";

  private static final String LOG_LEVEL = "log.level";

  /** Names the databases, where there are several. */
  private static final String DATABASES = "databases";

  private static final Set<String> KNOWN =
      new TreeSet<>(
          Set.of(
              "store.url",
              "store.user",
              "store.password",
              "store.schema",
              "store.prefix",
              INBOX_PREFIX,
              "store.dedupWindow",
              ARCHIVE,
              "store.archiveRetention",
              "store.deadLetterRetention",
              Publishers.NAMES,
              "publisher.timeout",
              Publishers.PLUGINS,
              "retry.maxAttempts",
              "retry.firstDelay",
              "retry.maxDelay",
              "relay.haltKeyWhenDead",
              PORT,
              "server.host",
              PAGE,
              CHANGES,
              "ui.token",
              LOG_LEVEL,
              DATABASES));

  /** Those that go to the relay's builder as they are. */
  private static final Map<String, BiConsumer<Relay.Builder, Value>> RELAY =
      new TreeMap<>(
          Map.of(
              "relay.name", (relay, value) -> relay.name(value.text()),
              "relay.workers", (relay, value) -> relay.workers(value.integer()),
              "relay.batchSize", (relay, value) -> relay.batchSize(value.integer()),
              "relay.batchBytes", (relay, value) -> relay.batchBytes(value.integer()),
              "relay.lease", (relay, value) -> relay.lease(value.duration()),
              "relay.publishTimeout", (relay, value) -> relay.publishTimeout(value.duration()),
              "relay.idlePause", (relay, value) -> relay.idlePause(value.duration()),
              "relay.stopTimeout", (relay, value) -> relay.stopTimeout(value.duration())));

  private static final String OF_DATABASE = "database.";

  /** What there is once in a process; a name that ends in a dot stands for many. */
  private static final Set<String> OF_PROCESS = Set.of("server.", "ui.", "log.", DATABASES);

  private static final Pattern VARIABLE = Pattern.compile("\\$\\{([A-Za-z_][A-Za-z0-9_]*)}");

  private final Map<String, String> values;
  private final Publishers publishers;

  private RelayConfig(Map<String, String> values, Publishers publishers) {
    this.values = values;
    this.publishers = publishers;
  }

  private static RelayConfig of(Map<String, String> values) {
    Publishers publishers = Publishers.of(values);
    checkNames(values, publishers);
    if (values.getOrDefault("store.url", "").isEmpty()) {
      throw new Failure("the property store.url is missing: it is needed");
    }
    values.forEach(RelayConfig::hide);
    if (!values.getOrDefault("store.password", "").isEmpty()
        && Secrets.isIn(values.getOrDefault("store.url", ""))) {
      throw new Failure(
          "store.url has a password, and store.password gives another: give one of the two");
    }
    RelayConfig config = new RelayConfig(values, publishers);
    config.refuseOnePrefixForBoth();
    return config;
  }

  /**
   * That of each database, by its name; by an empty one where the file names none.
   *
   * @param environment gives the value of a variable, or null
   * @throws Failure naming the property, and the database
   */
  static Map<String, RelayConfig> all(
      Properties properties, Function<String, @Nullable String> environment) {
    Map<String, String> values = filled(properties, environment);
    List<String> names = Publishers.list(values.getOrDefault(DATABASES, ""));
    if (names.isEmpty()) {
      return Map.of("", of(values));
    }
    Map<String, RelayConfig> all = new LinkedHashMap<>();
    for (String name : names) {
      if (!name.matches("[A-Za-z0-9_-]+")) {
        throw new Failure(
            "the property %s has '%s', a name has only letters, digits, _ and -"
                .formatted(DATABASES, name));
      }
      try {
        RelayConfig one = of(section(values, names, name));
        one.refuseSameAs(all);
        all.put(name, one);
      } catch (Failure e) {
        throw new Failure(of(name, String.valueOf(e.getMessage())), e);
      }
    }
    return all;
  }

  /**
   * Refuses a value of the wrong kind, and asks neither the database nor the broker.
   *
   * @param name empty: it is the only one
   * @throws Failure naming the property, and the database
   */
  static void check(String name, RelayConfig config) {
    try (Opened outbox = Stores.open(config.address(), config.dedupWindow(), 1);
        MessagePublisher publisher = config.publisher()) {
      config.configure(Relay.builder(outbox.store(), publisher));
      PageSettings ignored = config.server();
    } catch (IllegalArgumentException | Failure e) {
      throw new Failure(of(name, String.valueOf(e.getMessage())), e);
    } catch (OutboxException e) {
      // who asks the database says so
    }
  }

  /** An error with the name of the database that it is of; empty: it is the only one. */
  static String of(String name, String error) {
    return name.isEmpty() ? error : "the database %s: %s".formatted(name, error);
  }

  /** What is for all databases, and in its place what is for this one alone. */
  private static Map<String, String> section(
      Map<String, String> all, List<String> names, String name) {
    Map<String, String> section = new TreeMap<>(all);
    section.remove(DATABASES);
    for (String property : ProviderProperties.behind(OF_DATABASE, all).keySet()) {
      section.remove(OF_DATABASE + property);
      if (names.stream().noneMatch(one -> property.startsWith(one + "."))) {
        throw new Failure(
            "the property %s%s is for a database that %s does not name: remove it, or name that one"
                .formatted(OF_DATABASE, property, DATABASES));
      }
    }
    Map<String, String> own = ProviderProperties.behind(OF_DATABASE + name + ".", all);
    for (String property : own.keySet()) {
      if (ProviderProperties.isOneOf(OF_PROCESS, property)) {
        throw new Failure(
            "the property %s is for the process: give it without %s%s."
                .formatted(property, OF_DATABASE, name));
      }
    }
    section.putAll(own);
    return section;
  }

  /** Two relays of a process that were meant for one each. */
  private void refuseSameAs(Map<String, RelayConfig> others) {
    others.forEach(
        (name, other) -> {
          if (address().isSameOutbox(other.address())) {
            throw new Failure("it is where %s is, too: give each a store.url".formatted(name));
          }
        });
  }

  /** An inbox in the tables of the outbox could never be purged. */
  private void refuseOnePrefixForBoth() {
    String prefix = address().prefix();
    if (prefix.equals(inboxPrefix())) {
      throw new Failure(
          "%s and store.prefix are both %s, but an inbox has tables of its own: give the inbox another prefix"
              .formatted(INBOX_PREFIX, prefix));
    }
  }

  private static void hide(String name, String value) {
    if (name.toLowerCase(Locale.ROOT)
        .matches(
            ".*(password|secret|jaas|authorization|cookie|token|api-key|keystore\\.key|user\\.info).*")) {
      Secrets.hide(value);
      Secrets.hideIn(value);
      // One of several, and a line of a key, may be shown alone.
      Stream.of(value.split(name.endsWith("Secrets") ? "[,\\s]+" : "[,\\v]", -1))
          .map(String::strip)
          .forEach(Secrets::hide);
      if (name.endsWith("user.info")) {
        Secrets.hide(value.substring(value.indexOf(':') + 1));
      }
    } else if (name.endsWith(".bootstrap.servers")) {
      Secrets.show(value);
    }
  }

  /** A mistyped name would mean a default that nobody wanted. */
  private static void checkNames(Map<String, String> values, Publishers publishers) {
    Set<String> known = known(publishers);
    Set<String> accepted = new TreeSet<>(known);
    accepted.addAll(publishers.plugins());
    for (String name : values.keySet()) {
      if (!ProviderProperties.isOneOf(accepted, name)) {
        Publishers.unused(name, known)
            .ifPresent(
                kind -> {
                  throw new Failure(
                      "the property %s is for the publisher %s, which %s does not name: remove it"
                          .formatted(name, kind, Publishers.NAMES));
                });
        throw new Failure(
            "there is no property %s: did you mean %s?%s"
                .formatted(
                    name,
                    Texts.closest(name, known),
                    publishers.isOfClient(name)
                        ? " One of a plugin's is to be named in " + Publishers.PLUGINS
                        : ""));
      }
    }
  }

  /** All names, those of the publishers too; one that ends in a dot stands for many. */
  static Set<String> known(Publishers publishers) {
    Set<String> all = new TreeSet<>(KNOWN);
    all.addAll(RELAY.keySet());
    all.addAll(publishers.known());
    return all;
  }

  /** The log's level, which is set before the first library is loaded. */
  static String logLevel(Properties properties, Function<String, @Nullable String> environment) {
    return filled(properties, environment).getOrDefault(LOG_LEVEL, "info");
  }

  /** The properties with their variables filled in. */
  private static Map<String, String> filled(
      Properties properties, Function<String, @Nullable String> environment) {
    Map<String, String> values = new TreeMap<>();
    for (String name : new TreeSet<>(properties.stringPropertyNames())) {
      Matcher variables = VARIABLE.matcher(properties.getProperty(name).strip());
      values.put(
          name,
          variables.replaceAll(
              found -> {
                String filled = environment.apply(found.group(1));
                if (filled == null) {
                  throw new Failure(
                      "the property %s names the variable %s, which is not set: set it, or write the value"
                          .formatted(name, found.group(1)));
                }
                return Matcher.quoteReplacement(Secrets.given(filled));
              }));
    }
    return values;
  }

  String text(String name, String otherwise) {
    return values.getOrDefault(name, otherwise);
  }

  private @Nullable String textOrNull(String name) {
    String text = text(name, "");
    return text.isEmpty() ? null : text;
  }

  private Optional<Value> value(String name) {
    return Optional.ofNullable(values.get(name)).map(text -> new Value(name, text));
  }

  private Duration duration(String name, Duration otherwise) {
    return value(name).map(Value::duration).orElse(otherwise);
  }

  private @Nullable Duration durationOrNull(String name) {
    return value(name).map(Value::duration).orElse(null);
  }

  private int integer(String name, int otherwise) {
    return value(name).map(Value::integer).orElse(otherwise);
  }

  private boolean isOn(String name) {
    return value(name).map(Value::bool).orElse(false);
  }

  /** Null: as the store does by default. */
  @Nullable Duration dedupWindow() {
    return durationOrNull("store.dedupWindow");
  }

  /** Whether the archive is set, be it to {@code none}. */
  boolean saysArchive() {
    return values.containsKey(ARCHIVE);
  }

  private History history() {
    String archive = text(ARCHIVE, "none");
    return new History(
        Arrays.stream(Archive.values())
            .filter(one -> one.name().toLowerCase(Locale.ROOT).equals(archive))
            .findFirst()
            .orElseThrow(
                () ->
                    new Failure(
                        "the property %s is '%s', it must be none, metadata or full"
                            .formatted(ARCHIVE, archive))),
        durationOrNull("store.archiveRetention"),
        durationOrNull("store.deadLetterRetention"));
  }

  /** The prefix of the inbox that is purged too, or null when there is none. */
  @Nullable String inboxPrefix() {
    return textOrNull(INBOX_PREFIX);
  }

  /** Where the outbox is. */
  Address address() {
    return new Address(
        text("store.url", ""),
        text("store.user", ""),
        text("store.password", ""),
        textOrNull("store.schema"),
        text("store.prefix", StoreProvider.Settings.DEFAULT_PREFIX),
        history());
  }

  /** Where health, metrics and perhaps the page are, or null when they are nowhere. */
  @Nullable PageSettings server() {
    if (!hasPage() && (values.containsKey("ui.token") || values.containsKey(CHANGES))) {
      throw new Failure(
          "a property begins with ui., and the page is off: set %s to true, or leave it out"
              .formatted(PAGE));
    }
    if (!values.containsKey(PORT)) {
      if (hasPage()) {
        throw new Failure(
            "the property %s is true, and %s is missing: say at which port".formatted(PAGE, PORT));
      }
      return null;
    }
    return new PageSettings(
        text("server.host", PageSettings.DEFAULT_HOST),
        integer(PORT, PageSettings.DEFAULT_PORT),
        isOn(CHANGES),
        textOrNull("ui.token"));
  }

  /** Whether the operator's page is served, too. */
  boolean hasPage() {
    return isOn(PAGE);
  }

  MessagePublisher publisher() {
    return publishers.open(publisherTimeout());
  }

  int workers() {
    return integer("relay.workers", Relay.Builder.DEFAULT_WORKERS);
  }

  /** Below the time after which the relay gives up on a call: four fifths of it by default. */
  Duration publisherTimeout() {
    Duration lease = duration("relay.lease", Relay.Builder.DEFAULT_LEASE);
    Duration most = duration("relay.publishTimeout", Relay.Builder.defaultPublishTimeout(lease));
    Duration timeout = duration("publisher.timeout", Relay.Builder.defaultPublisherTimeout(most));
    if (timeout.compareTo(most) >= 0) {
      throw new Failure(
          "the property publisher.timeout is %s, it must be below relay.publishTimeout, which is %s: shorten it or lengthen relay.lease"
              .formatted(Texts.time(timeout), Texts.time(most)));
    }
    return timeout;
  }

  /** Sets the relay's own properties. */
  void configure(Relay.Builder relay) {
    relay.stopTimeout(STOP_TIMEOUT);
    RELAY.forEach((name, setter) -> value(name).ifPresent(value -> setter.accept(relay, value)));
    relay.retryPolicy(retryPolicy());
    relay.haltKeyWhenDead(Publishers.list(text("relay.haltKeyWhenDead", "")));
  }

  private RetryPolicy retryPolicy() {
    return RetryPolicy.builder()
        .maxAttempts(integer("retry.maxAttempts", RetryPolicy.DEFAULT_MAX_ATTEMPTS))
        .firstDelay(duration("retry.firstDelay", RetryPolicy.DEFAULT_FIRST_DELAY))
        .maxDelay(duration("retry.maxDelay", RetryPolicy.DEFAULT_MAX_DELAY))
        .build();
  }

  /** One value, and the property's name for errors. */
  private record Value(String name, String text) {
    boolean bool() {
      if (text.equals("true") || text.equals("false")) {
        return text.equals("true");
      }
      throw new Failure("the property %s is '%s', it must be true or false".formatted(name, text));
    }

    int integer() {
      try {
        return Integer.parseInt(text);
      } catch (NumberFormatException e) {
        throw new Failure("the property %s is %s, a whole number is needed".formatted(name, text));
      }
    }

    Duration duration() {
      return Durations.parse(text)
          .orElseThrow(
              () ->
                  new Failure("the property %s is %s, %s".formatted(name, text, Durations.NEEDED)));
    }
  }
}
