package dev.outbox.store.postgres;

import dev.outbox.tck.store.OutboxStoreProperties;
import java.sql.Connection;
import org.junit.jupiter.api.Nested;

/** Runs the TCK in this build; a name that Surefire picks up. */
class PostgresStoreTest extends PostgresStoreTck {

  @Nested
  class Properties extends OutboxStoreProperties<Connection> {}
}
