package dev.outbox.dev;

import dev.outbox.cli.Address;
import dev.outbox.cli.Failure;
import dev.outbox.cli.Stores;
import java.util.List;

/**
 * A database of any kind, as the TCK needs it: a place for outboxes that it makes and removes. What
 * goes wrong is a {@link Failure} that says it in a sentence.
 *
 * <p>A schema is what separates the tables of one outbox from those of others; on MySQL, MariaDB
 * and MongoDB that is a database, and on Redis what stands in the braces of keys.
 */
public interface TckDatabase extends AutoCloseable {

  /** One that has answered; see {@link Stores#connect}. */
  static TckDatabase connect(Address address) {
    return checked(StoreKind.of(address.url()).open(address));
  }

  /** The same database, when it has answered. */
  static <D extends TckDatabase> D checked(D database) {
    try {
      database.check();
      return database;
    } catch (RuntimeException e) {
      database.close();
      throw e;
    }
  }

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

  /** The address for sessions that {@link #removeSchemas} finds by their name. */
  Address named(String name);

  @Override
  void close();
}
