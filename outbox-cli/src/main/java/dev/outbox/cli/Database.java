package dev.outbox.cli;

import dev.outbox.cli.demo.OrderService;
import dev.outbox.store.core.BucketStore;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

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

  /**
   * One that has answered.
   *
   * @throws Failure.NoPassword when it wants a password and got none
   */
  static Database connect(Address address) {
    return at(address).used(Database::check);
  }

  /** The same, at an address where there can be an outbox: its schema is there. */
  static Database connectToOutbox(Address address) {
    return at(address)
        .used(
            database -> {
              var unused = database.store();
              database.check();
              database.checkSchema();
            });
  }

  private Database used(Consumer<Database> use) {
    try {
      use.accept(this);
      return this;
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Connects, to see that it answers, is of the right kind, and lets this user in. */
  void check();

  /** Which server it is, and by which driver it is reached, with their versions. */
  String server();

  /** The same with so many connections that are kept open, and tries when the database is away. */
  Database pool(int connections);

  /** The outbox at the address, with the default window for dedup keys. */
  default BucketStore<?, ?> store() {
    return store(BucketStore.DEFAULT_DEDUP_WINDOW);
  }

  /** The outbox at the address. */
  BucketStore<?, ?> store(Duration dedupWindow);

  /** The demo's order service, with its orders beside the outbox. */
  OrderService orderService();

  /** The version of the outbox's schema, as it says itself. */
  int schemaVersion();

  /** The statements that let one role append and nothing else, and another be a relay. */
  String grants(String producer, String relay);

  /** Refuses a schema that is not there; after {@link #store}, which checks the name. */
  void checkSchema();

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
