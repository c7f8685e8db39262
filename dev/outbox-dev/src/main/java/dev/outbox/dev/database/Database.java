package dev.outbox.dev.database;

import dev.outbox.cli.Address;
import java.util.List;

/**
 * A database of any kind: a place for outboxes that a program makes and removes. What goes wrong is
 * a {@link dev.outbox.cli.Failure} that says it in a sentence.
 *
 * <p>A schema is what separates the tables of one outbox from those of others; on MySQL, MariaDB
 * and MongoDB that is a database, and on Redis what stands in the braces of keys.
 */
public interface Database extends AutoCloseable {

  /** Connects, to see that it answers, is of the right kind, and lets this user in. */
  void check();

  /** Which server it is, and by which driver it is reached, with their versions. */
  String server();

  /** Makes a schema. */
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

  @Override
  void close();
}
