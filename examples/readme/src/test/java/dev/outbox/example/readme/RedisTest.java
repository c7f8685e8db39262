package dev.outbox.example.readme;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.embedded.EmbeddedRedis;
import dev.outbox.inbox.InboxKey;
import dev.outbox.store.redis.RedisInboxStore;
import dev.outbox.store.redis.RedisOutboxStore;
import dev.outbox.store.redis.RedisTransaction;
import dev.outbox.testing.RecordingPublisher;
import dev.outbox.testing.RelayOnce;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;
import redis.clients.jedis.RedisClient;

/** What docs/redis.md shows. */
class RedisTest {
  private EmbeddedRedis redis;
  private RedisClient client;

  @BeforeEach
  void start() {
    try {
      redis = EmbeddedRedis.start();
    } catch (UnsupportedOperationException e) {
      throw new TestAbortedException("skipped: " + e.getMessage());
    }
    client = RedisClient.create(redis.url());
  }

  @AfterEach
  void close() {
    if (redis != null) {
      client.close();
      redis.close();
    }
  }

  @Test
  void appends() {
    OutboxMessage message =
        OutboxMessage.builder()
            .aggregate("order", "order-1")
            .eventType("OrderPaid")
            .payload("{}")
            .build();
    // tag::append
    RedisOutboxStore outbox = RedisOutboxStore.of(client, "shop"); // keys begin with {shop}:outbox:
    outbox.migrate(); // writes one key unless it is there

    try (RedisTransaction transaction = RedisTransaction.begin(client)) {
      transaction.hset("{shop}:order:order-1", "state", "PAID");
      outbox.append(transaction, message);
      transaction.exec(); // both, or neither
    }
    // end::append
    assertThat(client.hget("{shop}:order:order-1", "state")).isEqualTo("PAID");
    assertThat(RelayOnce.run(outbox, new RecordingPublisher()).delivered()).hasSize(1);
  }

  @Test
  void handlesOnce() {
    for (String messageId : List.of("m-1", "m-1", "m-2")) {
      handle(messageId);
    }
    assertThat(client.get("{shop}:shipped")).isEqualTo("2");
  }

  private void handle(String messageId) {
    // tag::first-time
    RedisInboxStore inbox = RedisInboxStore.of(client, "shop"); // keys begin with {shop}:inbox:
    inbox.migrate(); // writes one key unless it is there

    try (RedisTransaction transaction = RedisTransaction.begin(client)) {
      if (inbox.firstTime(transaction, new InboxKey("shipping", messageId))) {
        transaction.incr("{shop}:shipped"); // your effects, in this Redis
      }
      transaction.exec(); // the effects and the record of them, or neither
    }
    // end::first-time
  }
}
