package dev.outbox.spi.store;

import dev.outbox.Archive;
import dev.outbox.OutboxException;
import dev.outbox.PermanentOutboxException;
import dev.outbox.Texts;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Opens a store by the URL of its database, for programs that are told where an outbox is. They
 * find it by {@link java.util.ServiceLoader}: its class is named in {@code
 * META-INF/services/dev.outbox.spi.store.StoreProvider} of the store's jar.
 */
public interface StoreProvider {

  /** The store's name in options, in small letters: {@code postgres}. */
  String name();

  /** The form of a URL, for help and errors: {@code jdbc:postgresql://host:5432/name}. */
  String exampleUrl();

  /** What the URLs of its databases begin with: {@code jdbc:postgresql:}. */
  List<String> urlPrefixes();

  /**
   * Makes a store. Waits for no database.
   *
   * @throws IllegalArgumentException when a setting cannot be right, naming it
   * @throws OutboxException when something is missing, as a driver
   */
  Opened open(Settings settings);

  /** A store and the connections that it uses. Safe for use by many threads. */
  interface Opened extends AutoCloseable {

    /** Always the same; it does not connect by itself. */
    OutboxStore<?> store();

    /**
     * The inbox in the same database, over the same connections; it does not connect by itself.
     *
     * @param prefix before the name of each of its tables, as {@link InboxStore#DEFAULT_PREFIX}
     * @return nothing when this kind of store has none, which is the default
     * @throws IllegalArgumentException when the prefix cannot be right
     */
    default Optional<InboxStore<?>> inbox(String prefix) {
      return Optional.empty();
    }

    /**
     * Connects once: the server answers, is of the right kind and lets this user in, and the schema
     * is one that this user may know of.
     *
     * @throws PasswordMissingException when the server wants a password and was given none
     * @throws OutboxException saying in one sentence what is wrong and what to do; it may name the
     *     URL as it was given, with a password in it
     */
    void check();

    /** Closes the connections. */
    @Override
    void close();
  }

  /**
   * Where an outbox is, who goes there, and how.
   *
   * @param url begins as {@link #urlPrefixes} says
   * @param user empty: as the URL says
   * @param password empty: as the URL says
   * @param schema of the tables; null: where the URL leads
   * @param prefix before the name of each table
   * @param dedupWindow how long a dedup key is remembered; null: as the store does by default
   * @param connections how many are used at once at most; they are kept open
   * @param history what is kept of messages that leave; a store that cannot refuses it ({@link
   *     History#requireNone})
   */
  record Settings(
      String url,
      String user,
      String password,
      @Nullable String schema,
      String prefix,
      @Nullable Duration dedupWindow,
      int connections,
      History history) {
    /** Before the name of each table, unless told otherwise. */
    public static final String DEFAULT_PREFIX = "outbox_";

    /** Names the settings without what may be secret. */
    @Override
    public String toString() {
      return "settings of the outbox %s* of %s".formatted(prefix, user.isEmpty() ? "a URL" : user);
    }
  }

  /**
   * What a store keeps of messages that leave it.
   *
   * @param archive which part of them
   * @param retention how long; null: as the store does by default
   * @param deadLetters how long dead letters are kept that halt no key; null: until somebody
   *     decides
   */
  record History(Archive archive, @Nullable Duration retention, @Nullable Duration deadLetters) {

    /** Nothing is kept, and dead letters stay. */
    public static final History NONE = new History(Archive.NONE, null, null);

    /** How long what is archived is kept, unless told otherwise. */
    public static final Duration DEFAULT_RETENTION = Duration.ofDays(30);

    /** With the usual retention; dead letters stay. */
    public static History of(Archive archive) {
      return new History(archive, null, null);
    }

    /** How long what is archived is kept. */
    public Duration retentionOrDefault() {
      return retention == null ? DEFAULT_RETENTION : retention;
    }

    /**
     * For stores that can keep nothing: refuses a setting that would have no effect.
     *
     * @param store for people: {@code Redis}
     * @throws IllegalArgumentException when something is to be kept, naming the setting
     */
    public void requireNone(String store) {
      if (archive != Archive.NONE) {
        throw refused("archive", archive, store, "keeps none");
      }
      if (retention != null) {
        throw refused("archiveRetention", Texts.time(retention), store, "keeps no archive");
      }
      if (deadLetters != null) {
        throw refused(
            "deadLetterRetention",
            Texts.time(deadLetters),
            store,
            "keeps dead letters until somebody decides");
      }
    }

    private static IllegalArgumentException refused(
        String setting, Object value, String store, String but) {
      return new IllegalArgumentException(
          "%s is %s, and the store of %s %s: leave it out".formatted(setting, value, store, but));
    }
  }

  /** The server wants a password, and was given none. */
  final class PasswordMissingException extends PermanentOutboxException {
    private static final long serialVersionUID = 1L;

    public PasswordMissingException(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }
}
