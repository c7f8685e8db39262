package dev.outbox.store.redis;

import static dev.outbox.tck.internal.Decisions.all;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.OutboxMessage;
import dev.outbox.PermanentOutboxException;
import dev.outbox.SchemaException;
import dev.outbox.TransientOutboxException;
import dev.outbox.embedded.EmbeddedRedis;
import dev.outbox.embedded.Ports;
import dev.outbox.embedded.TcpProxy;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.StoredMessage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisException;

/** What the store says to a server that is not as it must be, and when it has no memory left. */
class ServerTest {
  private static final String NAME = "shop";
  private static final Claim.Request REQUEST =
      new Claim.Request("test", 100, 100_000_000, Duration.ofMinutes(1));

  private interface OnServer {
    void run(EmbeddedRedis redis, RedisClient client);
  }

  private static void on(OnServer test, String... settings) {
    EmbeddedRedis started;
    try {
      started = EmbeddedRedis.start(settings);
    } catch (UnsupportedOperationException e) {
      throw new TestAbortedException("skipped: " + e.getMessage());
    }
    try (EmbeddedRedis redis = started;
        RedisClient client = TestRedis.client(redis.url())) {
      test.run(redis, client);
    }
  }

  private static RedisOutboxStore store(RedisClient client) {
    RedisOutboxStore store = RedisOutboxStore.of(client, NAME);
    store.migrate();
    return store;
  }

  private static void append(RedisClient client, RedisOutboxStore store, byte[] payload) {
    try (RedisTransaction transaction = RedisTransaction.begin(client)) {
      var unused = store.append(transaction, message(payload));
      List<Object> ignored = transaction.exec();
    }
  }

  private static OutboxMessage message(byte[] payload) {
    return OutboxMessage.builder()
        .aggregate("order", "1")
        .eventType("OrderPlaced")
        .payload(payload)
        .build();
  }

  private static void assertRefused(String sentence, String... settings) {
    on(
        (redis, client) -> {
          RedisOutboxStore store = store(client);
          assertThatThrownBy(store::verify)
              .isInstanceOf(SchemaException.class)
              .hasMessageContaining(sentence);
          assertThatThrownBy(() -> store.claim(REQUEST)).hasMessageContaining(sentence);
          assertThatThrownBy(() -> append(client, store, new byte[0]))
              .hasMessageContaining(sentence);
          RedisInboxStore inbox = RedisInboxStore.of(client, NAME);
          inbox.migrate();
          assertThatThrownBy(inbox::verify).hasMessageContaining(sentence);
        },
        settings);
  }

  @Test
  @DisplayName("a server that may throw keys away is refused")
  void eviction() {
    assertRefused("set maxmemory-policy noeviction", "--maxmemory-policy", "allkeys-lru");
  }

  @Test
  @DisplayName("a server that writes to the disk each second, or not at all, is refused")
  void durability() {
    assertRefused("appendfsync of this Redis is everysec", "--appendfsync", "everysec");
    assertRefused("appendonly of this Redis is no", "--appendonly", "no");
    assertRefused("set no-appendfsync-on-rewrite no", "--no-appendfsync-on-rewrite", "yes");
  }

  @Test
  @DisplayName(
      "a server that does not show its settings is refused, unless its user vouches for it")
  void hiddenSettings() {
    String[] hidden = {"--rename-command", "CONFIG", ""};
    assertRefused("allow CONFIG GET, or say uncheckedDurability()", hidden);
    on(
        (redis, client) -> {
          RedisOutboxStore store =
              RedisOutboxStore.builder(client, NAME).uncheckedDurability().build();
          store.migrate();
          append(client, store, new byte[0]);
          assertThat(store.claim(REQUEST).messages()).hasSize(1);
        },
        hidden);
  }

  @Test
  @DisplayName("a server that comes back with other settings is refused by who knew it, too")
  void otherSettingsAfterRestart() {
    on(
        (redis, client) -> {
          String unused = client.configSet("appendfsync", "always"); // which its file does not say
          RedisOutboxStore store = store(client);
          RedisOutboxStore appending = RedisOutboxStore.of(client, NAME);
          append(client, appending, new byte[0]);
          assertThat(store.claim(REQUEST).messages()).hasSize(1);
          redis.kill();
          redis.restart();
          for (ThrowingCallable work :
              List.<ThrowingCallable>of(
                  () -> append(client, appending, new byte[0]), () -> store.claim(REQUEST))) {
            await()
                .untilAsserted(
                    () ->
                        assertThatThrownBy(work)
                            .hasMessageContaining("appendfsync of this Redis is everysec"));
          }
        },
        "--appendfsync",
        "everysec");
  }

  @Test
  @DisplayName("with replicas asked for nothing is handed out before they have it")
  void replicas() {
    on(
        (primary, client) -> {
          RedisOutboxStore store =
              RedisOutboxStore.builder(client, NAME)
                  .replicas(1)
                  .replicasTime(Duration.ofMillis(100))
                  .build();
          store.migrate();
          append(client, store, new byte[0]);
          for (int i = 0; i < 5; i++) {
            assertThatThrownBy(() -> store.claim(REQUEST))
                .isInstanceOf(TransientOutboxException.class)
                .hasMessageContaining("0 replicas of Redis have acknowledged");
          }
          on(
              (replica, ofReplica) -> {
                List<StoredMessage> came =
                    await()
                        .ignoreException(TransientOutboxException.class)
                        .until(() -> store.claim(REQUEST).messages(), list -> !list.isEmpty());
                assertThat(came).as("given back each time").hasSize(1);
                assertThat(came.get(0).attempts()).as("attempts").isZero();
                assertThatThrownBy(() -> RedisOutboxStore.of(ofReplica, NAME).verify())
                    .hasMessageContaining("is a replica");
              },
              "--replicaof",
              "127.0.0.1",
              Integer.toString(primary.port()));
        },
        "--repl-diskless-sync-delay",
        "0");
  }

  @Test
  @DisplayName("a lock that too few replicas have is nobody's: the next one may have it at once")
  void lockWithoutReplicas() {
    on(
        (redis, client) -> {
          RedisInboxStore.Builder builder =
              RedisInboxStore.builder(client, NAME).replicasTime(Duration.ofMillis(1));
          builder.build().migrate();
          InboxKey key = new InboxKey("shipping", "1");
          Duration hour = Duration.ofHours(1);
          assertThatThrownBy(() -> builder.replicas(1).build().begin(key, hour))
              .isInstanceOf(TransientOutboxException.class)
              .hasMessageContaining("0 replicas of Redis have acknowledged");
          assertThat(builder.replicas(0).build().begin(key, hour))
              .isInstanceOf(Begin.Started.class);
        });
  }

  @Test
  @DisplayName("after a failover behind one name, what is connected to the old primary fails once")
  void failover() {
    on(
        (primary, ofPrimary) ->
            on(
                (replica, ofReplica) -> failover(primary, ofPrimary, replica, ofReplica),
                "--replicaof",
                "127.0.0.1",
                Integer.toString(primary.port())),
        "--repl-diskless-sync-delay",
        "0");
  }

  private static void failover(
      EmbeddedRedis primary, RedisClient ofPrimary, EmbeddedRedis replica, RedisClient ofReplica) {
    try (TcpProxy name = new TcpProxy()) {
      name.target(primary.port());
      String url = "redis://127.0.0.1:" + name.port();
      try (RedisClient relay = TestRedis.client(url, 1);
          RedisClient producer = TestRedis.client(url, 1);
          RedisClient starting = TestRedis.client(url, 1)) {
        RedisOutboxStore store = store(relay);
        RedisOutboxStore appending = RedisOutboxStore.of(producer, NAME);
        append(producer, appending, new byte[0]);
        assertThat(store.claim(REQUEST).settle(Map.of())).isEmpty();
        assertThat(starting.get("none")).isNull();
        RedisOutboxStore copy = RedisOutboxStore.of(ofReplica, NAME);
        await().ignoreExceptions().until(() -> copy.statistics(10).pending() == 1);

        Object unused = ofReplica.sendCommand(Command.REPLICAOF, "NO", "ONE");
        unused = ofPrimary.sendCommand(Command.REPLICAOF, "127.0.0.1", "" + replica.port());
        name.target(replica.port());
        assertFailsOnce("READONLY", () -> append(producer, appending, new byte[0]));
        assertFailsOnce("READONLY", () -> assertThat(store.claim(REQUEST).messages()).hasSize(2));
        assertFailsOnce("is a replica", RedisOutboxStore.of(starting, NAME)::verify);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void assertFailsOnce(String sentence, ThrowingCallable work) {
    assertThatThrownBy(work).hasMessageContaining(sentence);
    assertThatCode(work).doesNotThrowAnyException();
  }

  @Test
  @DisplayName("a Sentinel is told from a server")
  void sentinel() {
    on(
        (sentinel, client) -> {
          RedisOutboxStore store = RedisOutboxStore.of(client, NAME);
          for (ThrowingCallable work : List.<ThrowingCallable>of(store::migrate, store::verify)) {
            assertThatThrownBy(work)
                .isInstanceOf(SchemaException.class)
                .hasMessageStartingWith("this is a Sentinel");
          }
        },
        "--sentinel");
  }

  @Test
  @DisplayName("in a cluster all is refused while the keys move, and their new server has them all")
  void movingKeys() {
    String[] second = inCluster();
    on(
        (from, ofFrom) ->
            on(
                (to, ofTo) -> {
                  cluster(ofFrom, "ADDSLOTSRANGE", "0", "16383");
                  cluster(ofFrom, "MEET", "127.0.0.1", Integer.toString(to.port()), second[3]);
                  moveKeys(ofFrom, to.port(), ofTo);
                },
                second),
        inCluster());
  }

  private static String[] inCluster() {
    String bus = Integer.toString(Ports.free());
    return new String[] {"--cluster-enabled", "yes", "--cluster-port", bus};
  }

  private static void moveKeys(RedisClient ofFrom, int toPort, RedisClient ofTo) {
    await().untilAsserted(() -> assertThat(cluster(ofTo, "INFO")).contains("cluster_state:ok"));
    String elsewhere = "this Redis is one of a cluster, and another one has the key";
    RedisOutboxStore next = RedisOutboxStore.of(ofTo, NAME);
    assertThatThrownBy(next::migrate).hasMessageContainingAll(elsewhere, "MOVED");
    RedisOutboxStore store = store(ofFrom);
    append(ofFrom, store, new byte[0]);

    String slot = cluster(ofFrom, "KEYSLOT", NAME);
    String target = cluster(ofTo, "MYID");
    cluster(ofTo, "SETSLOT", slot, "IMPORTING", cluster(ofFrom, "MYID"));
    cluster(ofFrom, "SETSLOT", slot, "MIGRATING", target);
    for (String key = aKey(ofFrom, slot); !key.isEmpty(); key = aKey(ofFrom, slot)) {
      assertThatThrownBy(() -> append(ofFrom, store, new byte[0])).hasMessageContaining(elsewhere);
      assertThatThrownBy(() -> store.claim(REQUEST)).hasMessageContainingAll(elsewhere, "ASK");
      String unused = ofFrom.migrate("127.0.0.1", toPort, key, 5_000);
    }
    cluster(ofTo, "SETSLOT", slot, "NODE", target);
    cluster(ofFrom, "SETSLOT", slot, "NODE", target);
    assertThatThrownBy(() -> store.claim(REQUEST)).hasMessageContainingAll(elsewhere, "MOVED");
    append(ofTo, next, new byte[0]);
    assertThat(next.claim(REQUEST).messages()).hasSize(2);
  }

  private static String aKey(RedisClient client, String slot) {
    return cluster(client, "GETKEYSINSLOT", slot, "1");
  }

  private static String cluster(RedisClient client, String... arguments) {
    Object reply = client.sendCommand(Command.CLUSTER, arguments);
    Object one = reply instanceof List<?> list ? list.isEmpty() ? "" : list.get(0) : reply;
    return one instanceof byte[] text ? new String(text, UTF_8) : one.toString();
  }

  @Test
  @DisplayName("a server without memory refuses appends, and a relay still empties the outbox")
  void fullMemory() {
    on(
        (redis, client) -> {
          RedisOutboxStore store = store(client);
          byte[] payload = new byte[200_000];
          int stored = 0;
          try {
            for (; stored < 1_000; stored++) {
              append(client, store, payload);
            }
          } catch (TransientOutboxException e) {
            assertThat(e).hasMessageContaining("no memory left");
          }
          assertThat(stored).isBetween(3, 100);
          assertThat(store.statistics(1_000).pending()).isEqualTo(stored);
          assertThat(store.findings())
              .singleElement()
              .satisfies(memory -> assertThat(memory.isFine()).isFalse())
              .asString()
              .contains("bytes of memory");
          Claim claim = store.claim(REQUEST);
          assertThat(claim.messages()).hasSize(stored);
          assertThat(claim.settle(all(claim, Decision.delivered()))).isEmpty();
          await()
              .ignoreException(TransientOutboxException.class)
              .untilAsserted(() -> append(client, store, payload));
          assertThat(store.claim(REQUEST).messages()).hasSize(1);
        },
        "--maxmemory",
        "6mb");
  }

  @Test
  @DisplayName("a server without memory begins nothing, and what was begun can be completed")
  void fullMemoryInbox() {
    on(
        (redis, client) -> {
          RedisInboxStore inbox = RedisInboxStore.of(client, NAME);
          inbox.migrate();
          Duration minute = Duration.ofMinutes(1);
          List<Lock<RedisTransaction>> locks = new ArrayList<>();
          for (String id : List.of("done", "failed")) {
            var begun = inbox.begin(new InboxKey("shipping", id), minute);
            locks.add(((Begin.Started<RedisTransaction>) begun).lock());
          }
          String unused = client.configSet("maxmemory", "1");
          assertThatThrownBy(() -> inbox.begin(new InboxKey("shipping", "other"), minute))
              .isInstanceOf(TransientOutboxException.class)
              .hasMessageContaining("no memory left");
          assertThat(locks.get(0).renew(minute)).isTrue();
          assertThat(locks.get(0).complete(InboxResult.of(new byte[1000], null))).isTrue();
          assertThat(locks.get(1).release("no stock")).isTrue();
        });
  }

  @Test
  @DisplayName("a user without the right to MULTI or EXEC commits nothing, and is told")
  void rights() {
    for (String command : List.of("multi", "exec")) {
      on(
          (redis, client) -> {
            RedisOutboxStore store = store(client);
            String unused = client.set("{shop}:own", "0");
            Object ignored = client.sendCommand(Command.ACL, "SETUSER", "default", "-" + command);
            try (RedisTransaction transaction = RedisTransaction.begin(client)) {
              var own = transaction.incr("{shop}:own");
              var appended = store.append(transaction, message(new byte[0]));
              assertThat(appended.allStored()).isTrue();
              assertThatThrownBy(transaction::exec)
                  .isInstanceOf(PermanentOutboxException.class)
                  .hasMessageContaining("no permissions to run the '" + command);
              assertThat(own).isNotNull();
            }
            assertThat(client.get("{shop}:own")).isEqualTo("0");
            assertThat(store.claim(REQUEST).messages()).isEmpty();
          });
    }
  }

  @Test
  @DisplayName("a server that has forgotten all scripts is told them again")
  void scriptsForgotten() {
    on(
        (redis, client) -> {
          RedisOutboxStore store = store(client);
          append(client, store, new byte[0]);
          String unused = client.scriptFlush();
          append(client, store, new byte[0]);
          Claim claim = store.claim(REQUEST);
          assertThat(claim.messages()).hasSize(2);
          String ignored = client.scriptFlush();
          assertThat(claim.settle(all(claim, Decision.delivered()))).isEmpty();
          assertThat(store.statistics(10).pending()).isZero();
        });
  }

  @Test
  @DisplayName("nothing needs a second connection while it has one")
  void oneConnection() {
    on(
        (redis, client) -> {
          RedisOutboxStore unused = store(client);
          try (RedisClient one = TestRedis.client(redis.url(), 1)) {
            RedisOutboxStore store = RedisOutboxStore.builder(one, NAME).replicas(1).build();
            append(one, store, new byte[0]);
            assertThatThrownBy(() -> store.claim(REQUEST)).hasMessageContaining("replicas");
            RedisOutboxStore other = RedisOutboxStore.of(one, NAME);
            Claim claim = other.claim(REQUEST);
            assertThat(claim.renew(Duration.ofMinutes(1))).hasSize(1);
            assertThat(claim.settle(all(claim, Decision.delivered()))).isEmpty();
            assertThat(other.findings()).allMatch(Finding::isFine);
            assertThat(other.place()).contains("{shop}:outbox:*", "127.0.0.1");
          }
        });
  }

  @Test
  @DisplayName("a server that is gone is said in a sentence, and trying again can help")
  void gone() {
    on(
        (redis, client) -> {
          RedisOutboxStore store = store(client);
          append(client, store, new byte[0]);
          redis.kill();
          assertThatThrownBy(() -> store.claim(REQUEST))
              .isInstanceOf(TransientOutboxException.class)
              .hasMessageContaining("no connection to Redis");
          assertThatThrownBy(() -> append(client, store, new byte[0]))
              .isInstanceOf(TransientOutboxException.class);
        });
  }

  @Test
  @DisplayName(
      "a server that takes no more clients is said in a sentence, and will take some again")
  void full() {
    on(
        (redis, client) -> {
          RedisOutboxStore store = store(client);
          String unused = client.configSet("maxclients", "1");
          try (RedisClient other = TestRedis.client(redis.url())) {
            RedisOutboxStore refused = RedisOutboxStore.of(other, NAME);
            assertThatThrownBy(() -> refused.claim(REQUEST))
                .isInstanceOf(TransientOutboxException.class)
                .hasMessageContaining("as many clients as it takes");
            assertThatThrownBy(() -> RedisTransaction.begin(other))
                .isInstanceOf(TransientOutboxException.class);
            String ignored = client.configSet("maxclients", "10");
            assertThat(refused.claim(REQUEST).messages()).isEmpty();
          }
          store.verify();
        });
  }

  @Test
  @DisplayName("a transaction that is not committed ends quietly when the server is gone")
  void goneWhileOpen() {
    on(
        (redis, client) -> {
          FutureTask<String> waiting;
          try (RedisClient one = TestRedis.client(redis.url(), 1)) {
            RedisTransaction transaction = RedisTransaction.begin(one);
            waiting = new FutureTask<>(() -> one.get("any"));
            new Thread(waiting).start();
            await().until(() -> one.getPool().getNumWaiters() == 1);
            redis.kill();
            transaction.close(); // the pool cannot make the connection that somebody waits for
          }
          assertThatThrownBy(() -> waiting.get(1, TimeUnit.MINUTES))
              .hasCauseInstanceOf(JedisException.class);
        });
  }

  @Test
  @DisplayName("settings that cannot be right are refused")
  void settings() {
    try (RedisClient client = TestRedis.client("redis://127.0.0.1:1")) {
      assertThatThrownBy(() -> RedisOutboxStore.of(client, "a}b"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("a}b");
      assertThatThrownBy(() -> RedisOutboxStore.builder(client, NAME).replicas(-1).build())
          .hasMessageContaining("replicas is -1");
      assertThatThrownBy(
              () -> RedisOutboxStore.builder(client, NAME).replicasTime(Duration.ZERO).build())
          .hasMessageContaining("0s");
      assertThatThrownBy(
              () -> RedisOutboxStore.builder(client, NAME).dedupWindow(Duration.ZERO).build())
          .hasMessageContaining("0s");
      Duration forEver = Duration.ofSeconds(Long.MAX_VALUE);
      assertThatThrownBy(() -> RedisOutboxStore.builder(client, NAME).dedupWindow(forEver).build())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("dedupWindow is 9223372036854775807s");
    }
  }
}
