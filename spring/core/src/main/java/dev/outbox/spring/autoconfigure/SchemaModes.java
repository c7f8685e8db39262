package dev.outbox.spring.autoconfigure;

import dev.outbox.spi.store.SchemaStore;
import dev.outbox.spring.autoconfigure.OutboxProperties.SchemaMode;

/** Carries out {@code outbox.schema-mode}. */
final class SchemaModes {
  private SchemaModes() {}

  /**
   * @param store an outbox or an inbox
   */
  static void apply(SchemaMode mode, Object store) {
    if (store instanceof SchemaStore schema) {
      switch (mode) {
        case VERIFY -> schema.verify();
        case MIGRATE -> schema.migrate();
        case NONE -> {}
      }
    }
  }
}
