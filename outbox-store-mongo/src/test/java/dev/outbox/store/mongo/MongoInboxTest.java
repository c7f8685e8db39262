package dev.outbox.store.mongo;

import com.mongodb.client.ClientSession;
import dev.outbox.tck.inbox.InboxStoreProperties;
import org.junit.jupiter.api.Nested;

/** Runs the TCK of inboxes in this build. */
class MongoInboxTest extends MongoInboxTck {

  @Nested
  class Properties extends InboxStoreProperties<ClientSession> {}
}
