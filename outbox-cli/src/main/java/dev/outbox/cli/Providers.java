package dev.outbox.cli;

import dev.outbox.spi.publisher.PublisherProvider;
import dev.outbox.spi.store.StoreProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.CodeSource;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * The stores and publishers of the class path, found by {@link ServiceLoader}. Two jars that offer
 * the same one are refused: nobody could see which of them won.
 */
final class Providers {
  private Providers() {}

  /** By name. */
  static List<StoreProvider> stores() {
    return named(StoreProvider.class, StoreProvider::name, "stores");
  }

  /** By name. */
  static List<PublisherProvider> publishers() {
    return named(PublisherProvider.class, PublisherProvider::name, "publishers");
  }

  private static <P> List<P> named(Class<P> type, Function<P, String> name, String what) {
    Map<String, P> byName = new TreeMap<>();
    try {
      for (ServiceLoader.Provider<P> found : ServiceLoader.load(type).stream().toList()) {
        refuseCopies(found.type());
        P one = found.get();
        P other = byName.put(name.apply(one), one);
        if (other != null) {
          throw new Failure(
              "two %s are called %s, %s and %s: take the jar of one of them away"
                  .formatted(what, name.apply(one), origin(other), origin(one)));
        }
      }
    } catch (ServiceConfigurationError e) {
      throw new Failure(
          "a jar on the class path cannot be used, %s%s: put what it needs beside it, or take it away"
              .formatted(e.getMessage(), e.getCause() == null ? "" : " (" + e.getCause() + ")"),
          e);
    }
    return List.copyOf(byName.values());
  }

  private static String origin(Object provider) {
    CodeSource source = provider.getClass().getProtectionDomain().getCodeSource();
    return provider.getClass().getName() + (source == null ? "" : " in " + source.getLocation());
  }

  /** Refuses two versions of one jar, of which the loader would silently take the first. */
  private static void refuseCopies(Class<?> provider) {
    String file = provider.getName().replace('.', '/') + ".class";
    try {
      List<String> jars =
          Collections.list(provider.getClassLoader().getResources(file)).stream()
              .map(url -> url.toString().replaceFirst("^jar:", "").replaceFirst("!?/" + file, ""))
              .distinct()
              .toList();
      if (jars.size() > 1) {
        throw new Failure(
            "%s comes twice, from %s and from %s: take one of the two jars away"
                .formatted(provider.getName(), jars.get(0), jars.get(1)));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
