package dev.outbox.peers;

import java.time.Clock;
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
}
