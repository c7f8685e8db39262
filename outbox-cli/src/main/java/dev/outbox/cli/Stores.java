package dev.outbox.cli;

import dev.outbox.OutboxException;
import dev.outbox.Texts;
import dev.outbox.spi.store.ArchiveStore;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StoreProvider;
import dev.outbox.spi.store.StoreProvider.Opened;
import dev.outbox.spi.store.StoreProvider.PasswordMissingException;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.TypeConversionException;

/** The stores whose providers are on the class path, by name. */
public final class Stores {
  private static final String DEFAULT = "postgres";

  private Stores() {}

  /** For the help. */
  static final class Names implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return texts(StoreProvider::name).iterator();
    }
  }

  /** For the help. */
  static final class ExampleUrls implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return texts(StoreProvider::exampleUrl).iterator();
    }
  }

  /** Nothing when the stores cannot be listed: the help appears all the same. */
  private static List<String> texts(Function<StoreProvider, String> text) {
    try {
      return Providers.stores().stream().map(text).toList();
    } catch (Failure e) {
      return List.of();
    }
  }

  /**
   * The one that takes a URL.
   *
   * @throws Failure when there is none, or more than one
   */
  public static StoreProvider of(String url) {
    List<StoreProvider> found = Providers.stores();
    List<StoreProvider> taking =
        found.stream()
            .filter(store -> store.urlPrefixes().stream().anyMatch(url::startsWith))
            .toList();
    if (taking.isEmpty()) {
      throw new Failure(
          "no store takes the URL %s, those that were found take %s: put the jars of another one on the class path"
              .formatted(
                  Secrets.mask(url),
                  found.stream()
                      .map(s -> s.name() + " " + String.join(", ", s.urlPrefixes()))
                      .collect(Collectors.joining("; "))));
    }
    if (taking.size() > 1) {
      throw new Failure(
          "the stores %s and %s both take the URL %s: take the jar of one of them away"
              .formatted(taking.get(0).name(), taking.get(1).name(), Secrets.mask(url)));
    }
    return taking.get(0);
  }

  /**
   * The one of this name.
   *
   * @throws TypeConversionException when there is none
   */
  public static StoreProvider named(String name) {
    List<StoreProvider> found;
    try {
      found = Providers.stores();
    } catch (Failure e) { // for a value of an option
      throw new TypeConversionException(String.valueOf(e.getMessage()));
    }
    return found.stream()
        .filter(store -> store.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new TypeConversionException(
                    "'%s' is not one of %s".formatted(name, texts(StoreProvider::name))));
  }

  static StoreProvider orDefault(@Nullable StoreProvider chosen) {
    return chosen != null ? chosen : named(DEFAULT);
  }

  /**
   * Opens the outbox at an address; see {@link StoreProvider#open}.
   *
   * @param dedupWindow null: the store's own
   */
  public static Opened open(Address address, @Nullable Duration dedupWindow, int connections) {
    return Failure.whereRefused(
        "", () -> of(address.url()).open(address.settings(dedupWindow, connections)));
  }

  /**
   * Opens an outbox with one connection, and makes sure that its database answers.
   *
   * @throws Failure when it does not answer, or not as it should
   */
  public static Opened connect(Address address) {
    return connect(address, 1);
  }

  /**
   * As {@link #connect(Address)}, with so many connections: a pool is slow to say what is wrong.
   */
  static Opened connect(Address address, int connections) {
    Opened opened = checked(open(address, null, 1));
    if (connections == 1) {
      return opened;
    }
    opened.close();
    return open(address, null, connections);
  }

  /** Closes it when it is not as it should be. */
  static Opened checked(Opened opened) {
    try {
      opened.check();
      return opened;
    } catch (RuntimeException e) {
      try (opened) {
        boolean isFailure =
            e instanceof OutboxException && !(e instanceof PasswordMissingException);
        throw isFailure ? new Failure(String.valueOf(e.getMessage()), e) : e;
      }
    }
  }

  /** The inbox in the database of an outbox. */
  static InboxStore<?> inbox(Opened opened, String prefix) {
    return Failure.whereRefused("", () -> opened.inbox(prefix))
        .orElseThrow(
            () ->
                new Failure(
                    "%s has no inbox beside it"
                        .formatted(opened.store().getClass().getSimpleName())));
  }

  /** Checks the schema, where the store has one. */
  static void verify(Object store) {
    if (store instanceof SchemaStore schema) {
      schema.verify();
    }
  }

  /** Where the tables are; null: the store cannot say. */
  static @Nullable String place(Object store) {
    return store instanceof SchemaStore schema ? Texts.printable(schema.place()) : null;
  }

  /** What not every store does, by what it implements then. */
  private static final Map<Class<?>, String> ABILITIES =
      Map.of(
          ArchiveStore.class, "keeps an archive",
          DeadLetterStore.class, "decides about dead letters",
          InspectionStore.class, "shows its messages",
          PauseStore.class, "can be paused",
          SchemaStore.class, "has a schema",
          StatisticsStore.class, "counts its messages");

  /** Casts a store to an ability that the command needs; an error names the missing one. */
  static <A> A as(Class<A> ability, Object store) {
    if (!ability.isInstance(store)) {
      throw new Failure(
          "this needs a store that %s, as %s does, and %s does not"
              .formatted(
                  ABILITIES.get(ability),
                  ability.getSimpleName(),
                  store.getClass().getSimpleName()));
    }
    return ability.cast(store);
  }
}
