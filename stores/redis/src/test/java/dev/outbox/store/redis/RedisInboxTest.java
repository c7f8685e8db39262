package dev.outbox.store.redis;

import dev.outbox.tck.inbox.InboxStoreProperties;
import org.junit.jupiter.api.Nested;

/** Runs the TCK of inboxes in this build. */
class RedisInboxTest extends RedisInboxTck {

  @Nested
  class Properties extends InboxStoreProperties<RedisTransaction> {}
}
