package dev.outbox.store.mongo;

import com.mongodb.client.ClientSession;
import dev.outbox.tck.store.OutboxStoreProperties;
import org.junit.jupiter.api.Nested;

/** The TCK on the server that tests find. */
class MongoStoreTest extends MongoStoreTck {

  @Nested
  class Properties extends OutboxStoreProperties<ClientSession> {}
}
