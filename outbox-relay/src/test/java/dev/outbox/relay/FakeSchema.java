package dev.outbox.relay;

import dev.outbox.spi.store.SchemaStore;

/**
 * A schema that is where it is told.
 *
 * @param verifying throws what it refuses
 */
record FakeSchema(Runnable verifying) implements SchemaStore {
  @Override
  public void migrate() {}

  @Override
  public String ddl() {
    return "";
  }

  @Override
  public void verify() {
    verifying.run();
  }

  @Override
  public String place() {
    return "schema shop";
  }
}
