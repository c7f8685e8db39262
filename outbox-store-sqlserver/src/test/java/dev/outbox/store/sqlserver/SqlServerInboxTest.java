package dev.outbox.store.sqlserver;

import dev.outbox.tck.inbox.InboxStoreProperties;
import java.sql.Connection;
import org.junit.jupiter.api.Nested;

/** Runs the TCK of inboxes in this build. */
class SqlServerInboxTest extends SqlServerInboxTck {

  @Nested
  class Properties extends InboxStoreProperties<Connection> {}
}
