package dev.outbox.store.mysql;

import dev.outbox.tck.store.OutboxStoreProperties;
import java.sql.Connection;
import org.junit.jupiter.api.Nested;

class MariadbStoreTest extends MariadbStoreTck {

  @Nested
  class Properties extends OutboxStoreProperties<Connection> {}
}
