package dev.outbox.store.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.embedded.EmbeddedRedis;
import dev.outbox.inbox.InboxKey;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RetryPolicy;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;
import redis.clients.jedis.Connection;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisException;

/** A server that is killed while producers append and relays publish. */
class KillTest {
  private static final String NAME = "shop";
  private static final int PRODUCERS = 3;
  private static final int KEYS_OF_EACH = 3;
  private static final int KILLS = 3;
  private static final int BETWEEN_KILLS = 60;

  /** However often a message fails while the server is away, it comes soon after. */
  private static final RetryPolicy POLICY =
      RetryPolicy.builder()
          .firstDelay(Duration.ofMillis(20))
          .maxDelay(Duration.ofMillis(200))
          .maxAttempts(1_000)
          .build();

  /** So many messages may wait before producers wait, too. */
  private static final int AHEAD = 60;

  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /** Of a transaction, so that nobody waits for long for what a kill has left held. */
  private static final Duration LONGEST = Duration.ofSeconds(2);

  /** By key, the numbers in the order in which they came first. */
  private final Map<String, List<Integer>> came = new ConcurrentHashMap<>();

  private final AtomicInteger deliveries = new AtomicInteger();
  private final AtomicBoolean ended = new AtomicBoolean();
  private final AtomicInteger unknown = new AtomicInteger();
  private final AtomicInteger committed = new AtomicInteger();
  private final AtomicInteger arrived = new AtomicInteger();
  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

  /** By key, the message with a dedup key whose commit is not known; it is appended again. */
  private final Map<String, OutboxMessage> again = new ConcurrentHashMap<>();

  @Test
  @DisplayName(
      "what was committed is published in order, and nothing else, with a server killed now and then")
  void survives() throws InterruptedException {
    EmbeddedRedis started;
    try {
      started = EmbeddedRedis.start();
    } catch (UnsupportedOperationException e) {
      throw new TestAbortedException("skipped: " + e.getMessage());
    }
    try (EmbeddedRedis redis = started;
        RedisClient client = client(redis.url())) {
      RedisOutboxStore store = RedisOutboxStore.of(client, NAME);
      store.migrate();
      RedisInboxStore inbox = RedisInboxStore.of(client, NAME);
      inbox.migrate();
      try (Relay one = relay("one", store, client, inbox);
          Relay other = relay("other", store, client, inbox)) {
        one.start();
        other.start();
        List<Thread> producers =
            IntStream.range(0, PRODUCERS).mapToObj(i -> producer(client, store, i)).toList();
        for (int i = 0; i < KILLS; i++) {
          int before = deliveries.get();
          await().atMost(PATIENCE).until(() -> deliveries.get() >= before + BETWEEN_KILLS);
          redis.kill();
          redis.restart();
        }
        ended.set(true);
        for (Thread producer : producers) {
          producer.join(PATIENCE.toMillis());
          assertThat(producer.isAlive()).as("%s is still there", producer.getName()).isFalse();
        }
        assertThat(failures).as("what ended producers").isEmpty();
        assertAllCome(client);
      }
      assertThat(store.deadLetters(0, 1)).isEmpty();
    }
  }

  /** Each connection is tried before it is used: the server's restart has ended all of them. */
  private static RedisClient client(String url) {
    GenericObjectPoolConfig<Connection> pool = new GenericObjectPoolConfig<>();
    pool.setMaxTotal(32);
    pool.setTestOnBorrow(true);
    return RedisClient.builder().fromURI(url).poolConfig(pool).build();
  }

  private Relay relay(
      String name, RedisOutboxStore store, RedisClient client, RedisInboxStore inbox) {
    return Relay.builder(store, messages -> publish(messages, client, inbox))
        .name(name)
        .workers(2)
        .batchSize(7)
        .lease(Duration.ofSeconds(2))
        .idlePause(Duration.ofMillis(5))
        .retryPolicy(POLICY)
        .build();
  }

  /** What cannot be handled now fails, and with it what comes behind it. */
  private List<Result> publish(
      List<StoredMessage> messages, RedisClient client, RedisInboxStore inbox) {
    List<Result> results = new ArrayList<>();
    boolean good = true;
    for (StoredMessage message : messages) {
      good = good && publish(message, client, inbox);
      results.add(good ? Result.delivered() : Result.failed("the server is away, or busy with it"));
    }
    return results;
  }

  private boolean publish(StoredMessage message, RedisClient client, RedisInboxStore inbox) {
    int number = Integer.parseInt(message.message().payloadAsString());
    List<Integer> first = came.computeIfAbsent(message.key(), k -> new ArrayList<>());
    synchronized (first) {
      if (!first.contains(number)) {
        first.add(number);
        arrived.incrementAndGet();
      }
    }
    deliveries.incrementAndGet();
    return consume(client, inbox, message);
  }

  /** Each message counts once, however often it comes. */
  private static boolean consume(RedisClient client, RedisInboxStore inbox, StoredMessage message) {
    try (RedisTransaction transaction = RedisTransaction.begin(client, LONGEST)) {
      InboxKey key = new InboxKey("counting", message.message().id().toString());
      if (inbox.firstTime(transaction, key)) {
        var unused = transaction.incr(consumed(message.key()));
      }
      List<Object> ignored = transaction.exec();
      return true;
    } catch (TransientOutboxException e) {
      return false;
    }
  }

  private static String consumed(String key) {
    return "{%s}:consumed:%s".formatted(NAME, key);
  }

  private static String counter(String key) {
    return "{%s}:%s".formatted(NAME, key);
  }

  private Thread producer(RedisClient client, RedisOutboxStore store, int producer) {
    Thread thread =
        new Thread(
            () -> {
              for (int i = 0; !ended.get(); i++) {
                produce(client, store, "p%d-%d".formatted(producer, i % KEYS_OF_EACH));
                awaitRelays();
              }
            },
            "producer " + producer);
    thread.setUncaughtExceptionHandler((ended, failure) -> failures.add(failure));
    thread.start();
    return thread;
  }

  /**
   * A message costs the relays more writes to the disk than its producer: on a slow disk what waits
   * in the end would be more than can come within any time.
   */
  private void awaitRelays() {
    await()
        .atMost(PATIENCE)
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(5))
        .until(() -> ended.get() || committed.get() - arrived.get() < AHEAD);
  }

  /**
   * One more of a key: the counter says how many there are, in the same transaction. Every second
   * one has a dedup key, and is appended again when it is not known whether it was committed.
   */
  private void produce(RedisClient client, RedisOutboxStore store, String key) {
    try {
      OutboxMessage repeated = again.get(key);
      OutboxMessage message = repeated == null ? next(client, key) : repeated;
      if (message.dedupKey() != null) {
        again.put(key, message);
      }
      try (RedisTransaction transaction = RedisTransaction.begin(client, LONGEST)) {
        if (store.append(transaction, message).allStored()) {
          var unused = transaction.incr(counter(key));
        } else {
          assertThat(repeated).as("what is a duplicate").isNotNull();
        }
        List<Object> ignored = transaction.exec();
      }
      committed.incrementAndGet();
      again.remove(key);
    } catch (TransientOutboxException | JedisException e) {
      unknown.incrementAndGet(); // it may have happened: the counter knows
    }
  }

  private static OutboxMessage next(RedisClient client, String key) {
    String counted = client.get(counter(key));
    int number = counted == null ? 0 : Integer.parseInt(counted);
    OutboxMessage.Builder message =
        OutboxMessage.builder()
            .aggregate("order", key)
            .eventType("Counted")
            .payload(("" + number).getBytes(UTF_8));
    return (number % 2 == 1 ? message.dedupKey(key + "/" + number) : message).build();
  }

  private void assertAllCome(RedisClient client) {
    for (int p = 0; p < PRODUCERS; p++) {
      for (int k = 0; k < KEYS_OF_EACH; k++) {
        String key = "p%d-%d".formatted(p, k);
        int committed = Integer.parseInt(client.get(counter(key)));
        List<Integer> expected = IntStream.range(0, committed).boxed().toList();
        await()
            .atMost(PATIENCE)
            .untilAsserted(
                () -> {
                  List<Integer> first = came.get("order/" + key);
                  synchronized (first) {
                    assertThat(first).as("first deliveries of %s", key).isEqualTo(expected);
                  }
                  assertThat(client.get(consumed("order/" + key)))
                      .as("consumed of %s", key)
                      .isEqualTo(Integer.toString(committed));
                });
      }
    }
    assertThat(unknown).as("transactions that the kills have broken off").hasPositiveValue();
  }
}
