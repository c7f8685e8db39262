package dev.outbox.dev.bench;

import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.dev.bench.Cost.ServerWork;
import dev.outbox.inbox.InboxKey;
import dev.outbox.relay.Relay;
import dev.outbox.spi.store.OutboxStore;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the scenarios need of one kind of database; all else they do through the store. It works in
 * a schema (or what is like it) of its own, which {@link #close} removes. Tables, rows and
 * statements are collections, documents and commands where the database has those.
 */
public interface BenchDatabase extends AutoCloseable {
  int ROUND_TRIPS = 500;

  /** Whose table. */
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
    /** A transaction that has written something else, so that it has an id. */
    WRITER,
    /** A transaction that has appended a message; it does not commit. */
    APPENDER
  }

  /**
   * Messages of 200 bytes to be filled in, their keys by turns.
   *
   * @param keys how many; 0: unordered, each message has one of its own
   */
  record Load(long messages, int keys) {
    static final int PAYLOAD = 200;
    static final String KEY = "key-";
  }

  /** For the report: product and version, what its durability depends on, a round trip's time. */
  Map<String, String> describe();

  /** In microseconds; the median of some hundreds. */
  static double roundTrip(Runnable smallest) {
    double[] micros = new double[ROUND_TRIPS];
    for (int i = 0; i < 2 * ROUND_TRIPS; i++) {
      long before = System.nanoTime();
      smallest.run();
      micros[i % ROUND_TRIPS] = (System.nanoTime() - before) / 1e3;
    }
    Arrays.sort(micros);
    return micros[ROUND_TRIPS / 2];
  }

  /** What clients ask a server for, as "statements". */
  default String requests() {
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
  default Access open(int connections) {
    return open(connections, null);
  }

  /** A pool whose work is counted when there is a counter. Counting is not free. */
  Access open(int connections, @Nullable WorkCounter counter);

  /**
   * What a process of its own needs to {@link BenchDatabases#attach} to the same tables; may hold a
   * password.
   */
  Map<String, String> address();

  /** Empties one side's tables, so that a run does not pay for another's. */
  void empty(Side side);

  /** Adds messages, as fast as it can. */
  void fill(Side side, Load load);

  /** Vacuum and statistics: what the database would do in the background after a fill. */
  void tidy(Side side);

  /** Writes to disk what is due to be written, where one can and we may ask for that. */
  void checkpoint();

  /** Counted so far, when all pools that are closed have had their say. */
  ServerWork written(Side side);

  /** Holds something open in a session of its own until it is closed. */
  AutoCloseable pin(Pin pin);

  @Override
  void close();

  /** A pool, and what is done through it. */
  interface Access extends AutoCloseable {

    /** The store on this pool; the same each time. */
    OutboxStore<?> store();

    /** Another one on this pool, which keeps an archive. */
    OutboxStore<?> store(Archive archive);

    /** One worker of the limit, with a connection of its own; takes so many at once. */
    LimitWorker limitWorker(int most);

    /** One client with business transactions, with a connection of its own. */
    default Business business() {
      return business(null);
    }

    /**
     * The same.
     *
     * @param relay in this process, whose {@link Relay#wakeOnAppend} the messages are appended
     *     through
     */
    Business business(@Nullable Relay relay);

    /**
     * The same, whose messages are handed over to that relay where they can be.
     *
     * @param relays its store
     */
    default Business handing(Relay relay, OutboxStore<?> relays) {
      return business(relay);
    }

    @Override
    void close();
  }

  /** Not safe for use by many threads. */
  interface LimitWorker extends AutoCloseable {
    /** Takes, reads and deletes some messages; returns how many. */
    int batch();

    @Override
    void close();
  }

  /** Not safe for use by many threads. */
  interface Business extends AutoCloseable {
    /** One transaction with one business row, and messages to where {@code append} says. */
    void transaction(Append append, List<OutboxMessage> messages);

    /**
     * One transaction of a consumer with one business row.
     *
     * @param key recorded in an inbox in the same database; null: nothing is
     */
    void consume(@Nullable InboxKey key);

    @Override
    void close();
  }
}
