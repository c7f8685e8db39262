package dev.outbox.dev;

import dev.outbox.cli.Address;
import dev.outbox.cli.Stores;
import dev.outbox.dev.demo.OrderService;
import dev.outbox.dev.demo.ShippingService;
import dev.outbox.store.core.BucketStore;
import java.util.List;

/**
 * A database of any kind, with an outbox in it or a place for one: all that the commands do with
 * databases. What goes wrong is a {@link Failure} that says it in a sentence.
 *
 * <p>A schema is what separates the tables of one outbox from those of others; on MySQL, MariaDB
 * and MongoDB that is a database.
 */
public interface Database extends AutoCloseable {

  /** Connects to nothing yet. */
  static Database at(Address address) {
    return StoreKind.of(address.url()).open(address);
  }

  /** One that has answered; see {@link Stores#connect}. */
  static Database connect(Address address) {
    Database database = at(address);
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

  /** The same with so many connections that are kept open, and tries when the database is away. */
  Database pool(int connections);

  /** The outbox at the address. */
  BucketStore<?> store();

  /** The demo's order service, with its orders beside the outbox. */
  OrderService orderService();

  /** The demo's shipping, with an inbox and what is shipped at the address. */
  ShippingService shippingService();

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
