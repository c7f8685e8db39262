package dev.outbox.dev.database;

import dev.outbox.OutboxMessage;
import dev.outbox.cli.Address;
import dev.outbox.dev.database.Work.Appended;
import dev.outbox.dev.database.Work.DeadLetter;
import dev.outbox.embedded.ParentJvm;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.KeepingStore.Uncommitted;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.StoreProvider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A database of any kind as a process works in it, over a pool of its own: producers who lock what
 * they change, and consumers with an inbox. It opens connections when it needs them, so that a
 * process may begin while the database is away. What fails is an {@link
 * dev.outbox.OutboxException}.
 *
 * <p>It is also a place for outboxes that a program makes and removes, each in a schema. That is
 * what separates the tables of one outbox from those of others: on MySQL, MariaDB and MongoDB a
 * database, and on Redis what stands in the braces of keys.
 *
 * @param <T> a transaction
 */
public interface Place<T> extends AutoCloseable {

  /** So long a client waits for a connection. */
  Duration PATIENCE = Duration.ofSeconds(5);

  /** More than there are in any run. */
  int MOST_DEAD_LETTERS = 10_000;

  /** Connects, to see that it answers, is of the right kind, and lets this user in. */
  void check();

  /** The database and, except of Redis, the driver, with their versions. */
  Map<String, String> about();

  /** The same for people. */
  default String server() {
    return String.join(", by ", about().values());
  }

  void createSchema(String name);

  /** The schemas whose names begin so. */
  List<String> schemas(String begin);

  /**
   * Ends what still works in the schemas whose names begin so, as after Ctrl-C, and removes them.
   */
  void removeSchemas(String begin);

  /** The address of an outbox in a schema. */
  Address in(String schema);

  /** The address for sessions that {@link #removeSchemas} finds by their name. */
  Address named(String name);

  OutboxStore<T> store();

  /**
   * The inbox.
   *
   * @param retention null: its default
   */
  InboxStore<T> inbox(@Nullable Duration retention);

  /** Begins a client's transaction, on a connection of its own; see {@link Business}. */
  T open();

  /** Commits it; a relational database begins another one then. */
  void commit(T transaction);

  /** Rolls back what is not committed, and gives the connection back. */
  void end(T transaction);

  /** Does something in a transaction. Commits where it says true, else rolls back; returns that. */
  default boolean run(Predicate<T> work) {
    try (Business<T> business = begin()) {
      boolean good = work.test(business.transaction());
      if (good) {
        business.commit();
      }
      return good;
    }
  }

  /**
   * Makes the outbox, and beside it what producers write: so many keys, at most 1,000, and what was
   * appended.
   */
  void create(int keys);

  /** Makes the inbox, and beside it a list of effects. */
  void createInbox();

  /** The name of a key that is there, from 0. */
  static String key(int number) {
    return "key-" + number;
  }

  /** Lists of notes: "WAY MESSAGE", and what an {@link Appended} makes of itself. */
  String EFFECTS = "effect";

  String APPENDED = "work";

  /** Adds a note to a list, in a transaction: once more each time. */
  void note(T transaction, String list, String note);

  /** All of a list that are committed. */
  List<String> notes(String list);

  /** Makes the effect of a message: one more each time. */
  default void effect(T transaction, Enum<?> way, UUID message) {
    note(transaction, EFFECTS, way.name() + " " + message);
  }

  /** All that are committed. */
  default List<Effect> effects() {
    return notes(EFFECTS).stream()
        .map(note -> note.split(" "))
        .map(part -> new Effect(part[0], part[1]))
        .toList();
  }

  /**
   * An effect that is in the database.
   *
   * @param way the name of how the message was handled
   */
  record Effect(String way, String message) {}

  /** Writes down what an oracle will believe. */
  default void appended(T transaction, Appended one) {
    note(transaction, APPENDED, one.note());
  }

  /** What producers have written down, and committed. */
  default List<Appended> appended() {
    return notes(APPENDED).stream().map(Appended::of).toList();
  }

  /** Locks a key, and returns the number of its last message; all lock keys in one order. */
  int lock(T transaction, String key);

  /** Sets the number of a key's last message. */
  void last(T transaction, String key, int number);

  /** All dead letters that are left. */
  default List<DeadLetter> deadLetters() {
    return ((DeadLetterStore) store())
        .deadLetters(0, MOST_DEAD_LETTERS).stream()
            .map(DeadLetterStore.DeadLetter::message)
            .map(each -> new DeadLetter(each.message().id(), each.sequence()))
            .toList();
  }

  /** Begins a transaction of a producer that appends to the store. */
  default Business<T> begin() {
    return begin((transaction, messages) -> Uncommitted.of(store().append(transaction, messages)));
  }

  /** Begins one that appends as a relay beside it does; what that returns is told of the commit. */
  default Business<T> begin(BiFunction<T, List<OutboxMessage>, Uncommitted> appending) {
    return new Business<>(this, appending, open(), new ArrayList<>());
  }

  /**
   * A producer's transaction; rolled back when it is closed before it is committed. A relational
   * database begins another after each commit. What was appended in it is told of the commit, also
   * where it was rolled back to a savepoint, as by a framework that knows none.
   *
   * @param <T> a transaction of the database
   * @param appended what is not committed yet
   */
  record Business<T>(
      Place<T> place,
      BiFunction<T, List<OutboxMessage>, Uncommitted> appending,
      T transaction,
      List<Uncommitted> appended)
      implements AutoCloseable {

    public int lock(String key) {
      return place.lock(transaction, key);
    }

    /** Appends, and returns which are duplicates. */
    public Set<UUID> append(List<OutboxMessage> messages) {
      Uncommitted uncommitted = appending.apply(transaction, messages);
      appended.add(uncommitted);
      return uncommitted.appended().duplicates();
    }

    public void last(String key, int number) {
      place.last(transaction, key, number);
    }

    public void commit() {
      place.commit(transaction);
      appended.forEach(Uncommitted::committed);
      appended.clear();
    }

    @Override
    public void close() {
      place.end(transaction);
    }
  }

  @Override
  void close();

  /** An address as settings of a process. */
  static Map<String, String> settings(Address address) {
    return Map.of(
        "url", address.url(),
        "user", address.user(),
        "password", address.password(),
        "schema", Objects.requireNonNullElse(address.schema(), ""));
  }

  /** The same, read by that process. */
  static Address address(ParentJvm parent) {
    String schema = parent.get("schema");
    return new Address(
        parent.get("url"),
        parent.get("user"),
        parent.get("password"),
        schema.isEmpty() ? null : schema,
        StoreProvider.Settings.DEFAULT_PREFIX);
  }
}
