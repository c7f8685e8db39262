package dev.outbox.spring.autoconfigure;

import dev.outbox.spi.OutboxStore;
import dev.outbox.spi.SchemaStore;
import dev.outbox.spring.autoconfigure.OutboxProperties.SchemaMode;

/** Carries out {@code outbox.schema-mode}. */
final class SchemaModes {
  private SchemaModes() {}

  static void apply(SchemaMode mode, OutboxStore<?> store) {
    if (store instanceof SchemaStore schema) {
      switch (mode) {
        case VERIFY -> schema.verify();
        case MIGRATE -> schema.migrate();
        case NONE -> {}
      }
    }
  }
}
