package dev.outbox.store.mysql;

import dev.outbox.tck.inbox.InboxStoreProperties;
import java.sql.Connection;
import org.junit.jupiter.api.Nested;

/** Runs the TCK of inboxes in this build. */
class MariadbInboxTest extends MariadbInboxTck {

  @Nested
  class Properties extends InboxStoreProperties<Connection> {}
}
