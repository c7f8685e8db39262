package dev.outbox.dev.bench;

import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.cli.Address;
import dev.outbox.dev.common.Percentiles;
import dev.outbox.dev.database.Place;
import dev.outbox.dev.database.Place.Session;
import dev.outbox.dev.database.StoreKind;
import dev.outbox.inbox.Inbox;
import dev.outbox.inbox.InboxKey;
import dev.outbox.relay.Relay;
import dev.outbox.spi.store.OutboxStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * What the scenarios need of one kind of database; all else they do through the store. It works in
 * a schema (or what is like it) of its own, which {@link #close} removes. Tables, rows and
 * statements are collections, documents and commands where the database has those.
 *
 * @param <T> a transaction
 */
public abstract class BenchDatabase<T> implements AutoCloseable {
  private static final int ROUND_TRIPS = 500;

  /** Of the names of schemas. */
  static final String BEGIN = "outbox_bench_";

  static final String MESSAGES = "outbox_message";
  static final String ARCHIVE = "outbox_archive_message";
  static final String BLOCKED_KEYS = "outbox_blocked_key";
  static final String LIMIT = "like_message";

  enum Side {
    /** The outbox's. */
    OURS,
    /** One like it, with the only index that the limit wants. */
    LIMIT
  }

  /** What a business transaction appends to. */
  enum Append {
    /** The outbox. */
    OUTBOX,
    /** The limit's table, by bare inserts. */
    BARE,
    /** Nothing: only the business row is written. */
    NONE
  }

  /** What another session may hold open. */
  enum Pin {
    /** A read-only snapshot: vacuum can remove nothing that is deleted from now on. */
    SNAPSHOT,
    /** A transaction that has appended a message; it does not commit. */
    APPENDER
  }

  /**
   * Messages of 200 bytes to be filled in, their keys by turns.
   *
   * @param keys how many; 0: unordered, each message has one of its own
   */
  record Backlog(long messages, int keys) {
    static final int PAYLOAD = 200;
    static final String KEY = "key-";
  }

  private final Address own;
  private @Nullable Place<?> root;
  private boolean closed;

  /**
   * @param own with its schema
   */
  BenchDatabase(Address own) {
    this.own = own;
  }

  /** Connects and makes a schema with all tables. */
  static BenchDatabase<?> open(Address address) {
    Place<?> root = StoreKind.at(address);
    String schema = BEGIN + UUID.randomUUID().toString().substring(0, 8);
    BenchDatabase<?> database;
    try {
      database = of(root.in(schema));
    } catch (RuntimeException e) {
      try (root) {
        throw e;
      }
    }
    database.root = root;
    try {
      root.createSchema(schema);
      database.create();
      return database;
    } catch (RuntimeException e) {
      try (database) {
        throw e;
      }
    }
  }

  /**
   * The tables of another process's database, by its {@link #settings}. It is that one's to close.
   */
  static BenchDatabase<?> attach(Map<String, String> settings) {
    return of(Place.address(settings));
  }

  private static BenchDatabase<?> of(Address own) {
    return switch (StoreKind.of(own.url())) {
      case MONGO -> new MongoBench(own);
      default -> new JdbcBench(own);
    };
  }

  /** What a process of its own needs to {@link #attach} to the same tables. */
  Map<String, String> settings() {
    return Place.settings(own);
  }

  Address own() {
    return own;
  }

  abstract String schema();

  abstract void create();

  /** For the report: product and version, what its durability depends on, a round trip's time. */
  abstract Map<String, String> describe();

  /** In microseconds; the median of some hundreds. */
  static String roundTrip(Callable<?> smallest) {
    List<Double> micros = new ArrayList<>();
    try {
      for (int i = -ROUND_TRIPS; i < ROUND_TRIPS; i++) {
        long before = System.nanoTime();
        Object unused = smallest.call();
        if (i >= 0) {
          micros.add((System.nanoTime() - before) / 1e3);
        }
      }
    } catch (Exception e) {
      throw new IllegalStateException("no round trip can be measured: " + e.getMessage(), e);
    }
    return Math.round(Percentiles.of(micros, 50)) + " µs";
  }

  /** What clients ask a server for, as "statements". */
  String requests() {
    return "statements";
  }

  /**
   * What a relay of so many workers needs: one each, one that holds and one for housekeeping. With
   * fewer than four it holds nothing.
   */
  static int connections(int workers) {
    return Math.max(4, workers + 2);
  }

  /** A pool of its own; ready when it returns, each connection opened. */
  final Access<T> open(int connections) {
    return open(connections, null);
  }

  /** A pool whose work is counted when there is a counter. Counting is not free. */
  final Access<T> open(int connections, @Nullable WorkCounter counter) {
    return new Access<>(this, place(connections, counter));
  }

  abstract Place<T> place(int connections, @Nullable WorkCounter counter);

  abstract void business(Place<T> place, T transaction);

  abstract void bare(Place<T> place, T transaction, List<OutboxMessage> messages);

  /** One worker of the limit, with a connection of its own; takes so many at once. */
  abstract LimitWorker limitWorker(Place<T> place, int most);

  /** Empties one side's tables, so that a run does not pay for another's. */
  final void empty(Side side) {
    (side == Side.OURS ? List.of(MESSAGES, BLOCKED_KEYS, ARCHIVE) : List.of(LIMIT))
        .forEach(this::empty);
  }

  abstract void empty(String table);

  /** Adds messages, as fast as it can. */
  abstract void fill(Side side, Backlog load);

  /** Vacuum and statistics: what the database would do in the background after a fill. */
  void tidy(Side side) {}

  /** Writes to disk what is due to be written, where one can and we may ask for that. */
  void checkpoint() {}

  /**
   * Rows inserted, updated and deleted so far, when all pools that are closed have had their say.
   */
  double rows(Side side) {
    return side == Side.OURS
        ? rows(MESSAGES) + rows(ARCHIVE) + rows("outbox_bucket") + rows(BLOCKED_KEYS)
        : rows(LIMIT);
  }

  /** Those of a table; not a number where it cannot be known. */
  abstract double rows(String table);

  /** What went to the database's log, of everybody; not a number where it cannot be known. */
  double logBytes() {
    return Double.NaN;
  }

  /** Whether it can {@link #pin}. */
  boolean pins() {
    return false;
  }

  /** Holds something open in a session of its own until it is closed. */
  AutoCloseable pin(Pin pin) {
    throw new UnsupportedOperationException();
  }

  /** Ends the sessions that its own work has. */
  abstract void closeOwn();

  /** Removes everything, also while a run is under way, as after Ctrl-C. */
  @Override
  public final void close() {
    if (closed || root == null) {
      return;
    }
    closed = true;
    try (Place<?> ending = root) {
      try {
        ending.removeSchemas(schema());
      } finally {
        closeOwn();
      }
    }
  }

  /** Not safe for use by many threads. */
  interface LimitWorker extends AutoCloseable {
    /** Takes, reads and deletes some messages; returns how many. */
    int batch();

    @Override
    default void close() {}
  }

  /** Who tells a relay that there is something. */
  enum Woken {
    AFTER_COMMITS("same process, woken after commits"),
    NOT("another process"),
    HANDED_OVER("same process, handed over");

    final String label;

    Woken(String label) {
      this.label = label;
    }
  }

  /** A pool, and what is done through it. */
  static final class Access<T> implements AutoCloseable {
    private final BenchDatabase<T> database;
    private final Place<T> place;
    private final OutboxStore<T> store;

    private Access(BenchDatabase<T> database, Place<T> place) {
      this.database = database;
      this.place = place;
      store = place.store();
    }

    /** The store on this pool; the same each time. */
    OutboxStore<T> store() {
      return store;
    }

    /** Another one on this pool, which keeps an archive. */
    OutboxStore<T> store(Archive archive) {
      return place.store(archive);
    }

    LimitWorker limitWorker(int most) {
      return database.limitWorker(place, most);
    }

    /** One client with business transactions, with a connection of its own. */
    BenchClient<T> business() {
      return client(() -> {});
    }

    /** The same, beside a relay on this store. */
    BenchClient<T> business(Relay relay, Woken woken) {
      return switch (woken) {
        case NOT -> business();
        case AFTER_COMMITS -> client(relay::wake);
        case HANDED_OVER ->
            client((transaction, all) -> relay.append(store, transaction, all)::committed);
      };
    }

    private BenchClient<T> client(Runnable committed) {
      return client(
          (transaction, messages) -> {
            store.append(transaction, messages);
            return committed;
          });
    }

    private BenchClient<T> client(Appending<T> appending) {
      return new BenchClient<>(database, place, place.session(), place.inbox(null), appending);
    }

    @Override
    public void close() {
      place.close();
    }
  }

  /** Appends, and returns what is to be run after the commit. */
  interface Appending<T> {
    Runnable append(T transaction, List<OutboxMessage> messages);
  }

  /** Not safe for use by many threads. */
  record BenchClient<T>(
      BenchDatabase<T> database,
      Place<T> place,
      Session<T> session,
      Inbox<T> inbox,
      Appending<T> appending)
      implements AutoCloseable {

    /** One transaction with one business row, and messages to where {@code append} says. */
    void transaction(Append append, List<OutboxMessage> messages) {
      T transaction = session.begin();
      database.business(place, transaction);
      Runnable committed = () -> {};
      switch (append) {
        case OUTBOX -> committed = appending.append(transaction, messages);
        case BARE -> database.bare(place, transaction, messages);
        case NONE -> {}
      }
      session.commit();
      committed.run();
    }

    /**
     * One transaction of a consumer with one business row.
     *
     * @param key recorded in an inbox in the same database; null: nothing is
     */
    void consume(@Nullable InboxKey key) {
      T transaction = session.begin();
      if (key != null && !inbox.firstTime(transaction, key)) {
        throw new IllegalStateException(key + " came before");
      }
      database.business(place, transaction);
      session.commit();
    }

    @Override
    public void close() {
      session.close();
    }
  }
}
