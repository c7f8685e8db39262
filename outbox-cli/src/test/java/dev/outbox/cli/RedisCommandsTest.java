package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.outbox.OutboxMessage;
import dev.outbox.embedded.EmbeddedRedis;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoreProvider;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.redis.RedisOutboxStore;
import dev.outbox.store.redis.RedisTransaction;
import dev.outbox.store.redis.RedisUrl;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.RedisClient;

/** On Redis, which has a password; and what is said of one that cannot be used. */
class RedisCommandsTest extends DatabaseCommandsTest {
  private static final String NAME = "shop";
  private static final String KEYS = "{" + NAME + "}:outbox:";
  private EmbeddedRedis server;
  private RedisClient client;

  @BeforeAll
  void start() {
    server = started("--requirepass", "gehe:im");
    client = url().client(2);
  }

  private static EmbeddedRedis started(String... settings) {
    try {
      return EmbeddedRedis.start(settings);
    } catch (UnsupportedOperationException e) {
      System.err.println("Tests are SKIPPED: no Redis to test with: " + e.getMessage());
      return abort("no Redis to test with: " + e.getMessage());
    }
  }

  @AfterAll
  void stop() {
    if (server != null) {
      client.close();
      server.close();
    }
  }

  private RedisUrl url() {
    return RedisUrl.of(server.url()).as("", "gehe:im");
  }

  @Override
  List<String> options() {
    return List.of("--url=" + url().text(), "--schema=" + NAME);
  }

  @Override
  void create() {}

  @Override
  void drop() {
    String unused = client.flushAll();
  }

  @Override
  StoreProvider.Opened opened() {
    return Stores.connect(new Address(url().text(), "", "", NAME, "outbox_"));
  }

  /** As a relay makes it. */
  @Override
  long insertDead(String error) {
    RedisOutboxStore store = RedisOutboxStore.of(client, NAME);
    OutboxMessage message =
        OutboxMessage.builder()
            .aggregate("order", "17")
            .eventType("OrderPlaced")
            .payload(new byte[0])
            .build();
    try (RedisTransaction transaction = RedisTransaction.begin(client)) {
      var unused = store.append(transaction, message);
      List<Object> ignored = transaction.exec();
    }
    Claim claim = store.claim(new Claim.Request("test", 100, 1_000_000, Duration.ofMinutes(1)));
    long sequence =
        claim.messages().stream().mapToLong(StoredMessage::sequence).max().orElseThrow();
    var unused = claim.settle(Map.of(sequence, Decision.dead(error)));
    return sequence;
  }

  @Override
  List<String> statuses() {
    List<String> dead = client.zrange(KEYS + "dead", 0, -1);
    return client.keys(KEYS + "message:*").stream()
        .map(key -> dead.contains(key.substring(key.lastIndexOf(':') + 1)) ? "DEAD" : "PENDING")
        .toList();
  }

  @Override
  @Test
  @DisplayName("there are no statements that give rights")
  void grants() {
    assertThat(cli("grants", "--producer=shop_web", "--relay=shop_relay").err())
        .contains("RedisOutboxStore gives no rights")
        .hasLineCount(1);
  }

  @Override
  @Test
  @DisplayName("nor for an inbox")
  void inboxGrants() {
    assertThat(cli("grants", "--inbox", "--consumer=a", "--housekeeper=b").err())
        .contains("RedisInboxStore gives no rights")
        .hasLineCount(1);
  }

  @Test
  @DisplayName(
      "a relay publishes what is in the keys that a schema names, with an inbox beside them")
  void relay() throws Exception {
    cli("migrate").done();
    cli("migrate", "--inbox").done();
    long dead = insertDead("away");
    try (Endpoint endpoint = new Endpoint(0);
        RelayProcess ignored =
            RelayProcess.start(
                relay("store.inboxPrefix=inbox_\n" + endpoint.settings("{aggregateType}")))) {
      cli("dead-letters", "requeue", "" + dead).done();
      assertThat(endpoint.posted.poll(2, TimeUnit.MINUTES)).isEqualTo("order ");
    }
  }

  private static void assertSays(String url, String... parts) {
    assertThat(Cli.run("status", "--schema=" + NAME, "--url=" + url).refused())
        .contains(parts)
        .doesNotContain("gehe:im", "falsch");
  }

  @Test
  @DisplayName("who is refused, and where nothing or something else answers, is said in a sentence")
  void connection() {
    String address = "127.0.0.1:" + server.port();
    assertSays("redis://" + address, "wants a password; give the password in", "OUTBOX_PASSWORD");
    assertSays(
        "redis://:falsch@" + address,
        "cannot connect to redis://:***@" + address + ": it refused the password, check");
    assertSays("redis://relay:falsch@" + address, "it refused the user relay, check user and");
    assertSays("redis://relay@" + address, "the user relay has no password", "OUTBOX_PASSWORD");
    assertSays("redis://127.0.0.1:1", "Connection refused", "; is the server running there?");
    assertSays("redis://nobody.invalid", "unknown host nobody.invalid");
    assertSays("rediss://:falsch@" + address, "does that port speak TLS, and does this Java trust");
    assertSays("redis://:gehe%3Aim@" + address + "/99", "DB index is out of range");
  }

  @Test
  @DisplayName("a URL that is no URL of Redis is said in a sentence, without its password")
  void urls() {
    assertSays("redis://h:x", "it looks like redis://host:6379");
    assertSays("redis://a:falsch/b@h", "it looks like redis://host:6379");
    assertSays("redis://a:falsch%zz@h", "two hexadecimal digits");
    assertSays("redis://h:70000", "its port is 70000, at most 65535 is allowed");
    assertSays("redis://h?replica=1", "its option replica is not one of replicas=1");
  }

  @Test
  @DisplayName("a server that may forget is refused; its user may vouch for it in the URL")
  void settings() {
    try (EmbeddedRedis evicting = started("--maxmemory-policy", "allkeys-lru");
        EmbeddedRedis hiding = started("--rename-command", "CONFIG", "")) {
      assertSays(evicting.url(), "set maxmemory-policy noeviction");
      assertSays(hiding.url(), "in a URL ?uncheckedDurability=true");
      String vouched = "--url=" + hiding.url() + "?uncheckedDurability=true";
      assertThat(Cli.run("migrate", "--schema=" + NAME, vouched).done())
          .startsWith("The outbox is up to date: keys {shop}:outbox:* of Redis at 127.0.0.1:");
    }
  }
}
