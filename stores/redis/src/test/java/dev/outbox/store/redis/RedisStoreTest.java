package dev.outbox.store.redis;

import dev.outbox.tck.store.OutboxStoreProperties;
import org.junit.jupiter.api.Nested;

/** The TCK on the server that tests find. */
class RedisStoreTest extends RedisStoreTck {

  @Nested
  class Properties extends OutboxStoreProperties<RedisTransaction> {}
}
