package dev.outbox.store.postgres;

import dev.outbox.tck.inbox.InboxStoreProperties;
import java.sql.Connection;
import org.junit.jupiter.api.Nested;

/** Runs the TCK of inboxes in this build. */
class PostgresInboxTest extends PostgresInboxTck {

  @Nested
  class Properties extends InboxStoreProperties<Connection> {}
}
