package dev.outbox.store.sqlserver;

import dev.outbox.tck.store.OutboxStoreProperties;
import java.sql.Connection;
import org.junit.jupiter.api.Nested;

/** Runs the TCK in this build; a name that Surefire picks up. */
class SqlServerStoreTest extends SqlServerStoreTck {

  @Nested
  class Properties extends OutboxStoreProperties<Connection> {}
}
