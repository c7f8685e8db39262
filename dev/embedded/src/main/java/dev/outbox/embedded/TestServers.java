package dev.outbox.embedded;

import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.testcontainers.DockerClientFactory;

/** Picks the server that a test runs against. */
final class TestServers {
  private static final Logger log = LoggerFactory.getLogger(TestServers.class);

  private TestServers() {}

  /** In place of an embedded one. */
  static <S> S none() {
    throw new UnsupportedOperationException("there is no embedded one");
  }

  static DatabaseServer database(
      String name,
      String key,
      String containerClass,
      Supplier<DatabaseServer> container,
      Supplier<DatabaseServer> embedded) {
    String property = "outbox.test." + key;
    return pick(
        name,
        property + ".url",
        "jdbc:…",
        url -> {
          String user = orEmpty(Machine.setting(property + ".user"));
          String password = orEmpty(Machine.setting(property + ".password"));
          NamedServers.ask(name, property + ".url", url, user, password);
          return new StayingDatabase(url, user, password);
        },
        containerClass,
        container,
        embedded);
  }

  /**
   * The user's own, a container or an embedded one: see {@link DatabaseServer}.
   *
   * @param form of the property's value
   * @param containerClass of Testcontainers
   */
  static <S> S pick(
      String name,
      String property,
      String form,
      Function<String, S> users,
      String containerClass,
      Supplier<S> container,
      Supplier<S> embedded) {
    String given = Machine.setting(property);
    if (given != null) {
      log.info("Tests run against the {} of {}", name, property);
      return users.apply(given);
    }
    if (other(property, "image") != null
        || (other(property, "version") == null
            && has("org.testcontainers." + containerClass)
            && Docker.isThere())) {
      log.info("Tests run against {} in a container", name);
      return container.get();
    }
    return orSkip(
        name, embedded, ". Name one with -D%s=%s, or run Docker".formatted(property, form));
  }

  /**
   * Starts a server of ours.
   *
   * @param other what helps where there is none
   */
  static <S> S orSkip(String name, Supplier<S> embedded, String other) {
    try {
      S server = embedded.get();
      log.info("Tests run against the {}", server);
      return server;
    } catch (UnsupportedOperationException e) {
      String reason = "no %s to test with: %s%s".formatted(name, e.getMessage(), other);
      log.warn("Tests are SKIPPED: {}", reason);
      throw new TestAbortedException(reason);
    }
  }

  /**
   * What else is said of that server: {@code outbox.test.postgres.version} asks for an embedded
   * one, {@code outbox.test.postgres.image} for a container.
   */
  private static @Nullable String other(String property, String last) {
    return Machine.setting(property.replaceFirst("[a-z]+$", last));
  }

  /** The image of {@code outbox.test.<name>.image}, or the usual one. */
  static String image(String name, String usual) {
    String named = Machine.setting("outbox.test." + name + ".image");
    return named == null ? usual : named;
  }

  private static String orEmpty(@Nullable String value) {
    return value == null ? "" : value;
  }

  private static boolean has(String className) {
    try {
      Class.forName(className, false, TestServers.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  /** A class of its own, loaded only when Testcontainers is on the class path. */
  private static final class Docker {
    static boolean isThere() {
      return DockerClientFactory.instance().isDockerAvailable();
    }
  }

  /** One that a test does not end. A record's own text would show the password. */
  record StayingDatabase(String jdbcUrl, String user, String password) implements DatabaseServer {
    @Override
    public String toString() {
      return "a server for tests";
    }
  }
}
