package dev.outbox.dev.torture;

import dev.outbox.Archive;
import dev.outbox.cli.Address;
import dev.outbox.dev.StoreKind;

/** Those that there are. */
public final class Places {
  private Places() {}

  /**
   * Opens one.
   *
   * @param archive what the outbox keeps of messages that leave it
   * @param size of its pool
   */
  public static Place<?> open(StoreKind kind, Address address, Archive archive, int size) {
    return switch (kind) {
      case REDIS -> new RedisPlace(address.url(), size);
      case MONGO -> new MongoPlace(address);
      default -> new JdbcPlace(kind.jdbc(), address, archive, size, Place.PATIENCE);
    };
  }
}
