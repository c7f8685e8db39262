package dev.outbox.dev;

import dev.outbox.cli.Address;
import dev.outbox.cli.Failure;
import dev.outbox.cli.Stores;
import dev.outbox.dev.demo.OrderService;
import dev.outbox.dev.demo.ShippingService;
import dev.outbox.store.core.BucketStore;

/** A database of any kind but Redis: all that the demo and the benchmarks do with one. */
public interface Database extends TckDatabase {

  /**
   * Connects to nothing yet.
   *
   * @throws Failure when the URL is of a kind that these commands do not know
   */
  static Database at(Address address) {
    if (StoreKind.of(address.url()).open(address) instanceof Database database) {
      return database;
    }
    throw new Failure("the demo and the benchmarks do not know the database at " + address);
  }

  /** One that has answered; see {@link Stores#connect}. */
  static Database connect(Address address) {
    return TckDatabase.checked(at(address));
  }

  /** The same with so many connections that are kept open, and tries when the database is away. */
  Database pool(int connections);

  /** The outbox at the address. */
  BucketStore<?> store();

  /** The demo's order service, with its orders beside the outbox. */
  OrderService orderService();

  /** The demo's shipping, with an inbox and what is shipped at the address. */
  ShippingService shippingService();

  /** The address of an outbox in a schema. */
  Address in(String schema);
}
