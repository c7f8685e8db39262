package dev.outbox.peers;

import java.time.Clock;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** One outbox with one setting. */
interface Contender {
  /**
   * How many connections its application has, unless its setting asks for more: a pool's default.
   */
  int CONNECTIONS = 10;

  String name();

  /** Which version, and what is set; a sentence or two. */
  String what();

  default int connections() {
    return CONNECTIONS;
  }

  /**
   * Its application, for filling: nothing is published; what is appended stays a backlog.
   *
   * @param clock the machine's, where the outbox asks it
   */
  App fill(DataSource dataSource, Clock clock);

  /** Its application, as it is run; it publishes to the recorder. */
  App run(DataSource dataSource, Recorder recorder);

  /** An application with this outbox. Safe for use by many threads. */
  interface App extends AutoCloseable {
    /** Begins to publish, where that does not begin by itself. */
    default void begin() {}

    /**
     * Goes through what an application that has ended left behind, where that needs to be asked
     * for.
     */
    default void submitBacklog() {}

    /** One transaction; {@code work} does what it likes with JDBC, and appends. */
    void transaction(Consumer<Transaction> work);

    @Override
    void close();
  }

  /** What may be done in a transaction. */
  interface Transaction {
    /** A row of the business, so that there is a reason for a message. */
    void business(OrderPlaced message);

    void append(OrderPlaced message);
  }
}
