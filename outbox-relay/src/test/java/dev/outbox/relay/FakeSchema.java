package dev.outbox.relay;

import dev.outbox.spi.store.SchemaStore;

/** A schema that cannot be made, and may refuse to be verified. */
@FunctionalInterface
interface FakeSchema extends SchemaStore {
  @Override
  default void migrate() {}

  @Override
  default String ddl() {
    return "";
  }

  @Override
  default String place() {
    return "schema shop";
  }
}
