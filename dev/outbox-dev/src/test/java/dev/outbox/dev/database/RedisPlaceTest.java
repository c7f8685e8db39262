package dev.outbox.dev.database;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.cli.Address;
import dev.outbox.dev.database.Place.Business;
import dev.outbox.dev.database.Place.Effect;
import dev.outbox.dev.database.Work.Appended;
import dev.outbox.dev.database.Work.DeadLetter;
import dev.outbox.dev.database.Work.Kind;
import dev.outbox.embedded.EmbeddedRedis;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.redis.RedisTransaction;
import dev.outbox.store.redis.RedisUrl;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;
import redis.clients.jedis.RedisClient;

/** What the oracle is told of a Redis, on a real one. */
class RedisPlaceTest {
  private static final Claim.Request REQUEST =
      new Claim.Request("test", 100, 1_000_000, Duration.ofMinutes(1));

  private EmbeddedRedis server;
  private RedisPlace place;
  private RedisClient client;

  @BeforeEach
  void start() {
    try {
      server = EmbeddedRedis.start();
    } catch (UnsupportedOperationException e) {
      throw new TestAbortedException("skipped: " + e.getMessage());
    }
    place = new RedisPlace(new Address(server.url(), "", ""), 1);
    place.create(1);
    place.createInbox();
    client = RedisUrl.of(server.url()).client(1);
  }

  @AfterEach
  void stop() {
    if (server != null) {
      client.close();
      place.close();
      server.close();
    }
  }

  private Work append(int nth, Kind kind) {
    Work work = new Work(UUID.randomUUID(), "key-1", nth, kind);
    try (Business<RedisTransaction> business = place.begin()) {
      assertThat(business.lock("key-1")).isEqualTo(nth - 1);
      assertThat(business.append(List.of(work.message().build()))).isEmpty();
      place.appended(business.transaction(), appended(work));
      business.last("key-1", nth);
      business.commit();
    }
    return work;
  }

  private static Appended appended(Work work) {
    return new Appended(work, work.nth() == 1 ? null : "d" + work.nth(), work.nth() == 3);
  }

  /** By kind. */
  private void settle() {
    Claim claim = place.store().claim(REQUEST);
    Map<Long, Decision> decisions = new HashMap<>();
    for (StoredMessage message : claim.messages()) {
      Kind kind = Kind.valueOf(message.message().eventType());
      decisions.put(
          message.sequence(),
          switch (kind) {
            case DOOMED -> Decision.dead("doomed");
            case HALTING -> Decision.deadHaltingKey("halting");
            default -> Decision.retry(Duration.ofHours(1), "later");
          });
    }
    var unused = claim.settle(decisions);
  }

  @Test
  @DisplayName("what was committed, what waits, what is dead, and which effects there are")
  void facts() {
    Work first = append(1, Kind.DOOMED);
    Work second = append(2, Kind.PLAIN);
    try (Business<RedisTransaction> business = place.begin()) {
      business.last("key-1", 17);
      place.appended(
          business.transaction(),
          appended(new Work(UUID.randomUUID(), "key-1", 17, Kind.PLAIN))); // it is rolled back
    }
    Work third = new Work(UUID.randomUUID(), "key-1", 3, Kind.PLAIN);
    try (Business<RedisTransaction> business = place.begin()) {
      place.appended(business.transaction(), appended(third));
      business.commit();
    }
    assertThat(place.appended())
        .containsExactly(
            new Appended(first, null, false),
            new Appended(second, "d2", false),
            new Appended(third, "d3", true));
    assertThat(place.waiting()).isEqualTo(2);
    settle();
    assertThat(place.waiting()).as("with what is dead").isEqualTo(2);
    assertThat(place.firstWaiting()).contains("key-1 PLAIN later");
    assertThat(place.deadLetters()).extracting(DeadLetter::id).containsExactly(first.id());
    assertThat(place.wrong()).isEmpty();

    for (boolean commits : new boolean[] {true, false, true}) {
      boolean did =
          place.run(
              transaction -> {
                place.effect(transaction, Kind.PLAIN, first.id());
                return commits;
              });
      assertThat(did).isEqualTo(commits);
    }
    Effect effect = new Effect("PLAIN", first.id().toString());
    assertThat(place.effects()).containsExactly(effect, effect);
  }

  @Test
  @DisplayName("keys and messages that nobody finds are seen, and counts that are wrong")
  void wrong() {
    Work first = append(1, Kind.PLAIN);
    Work second = append(2, Kind.PLAIN);
    String key = first.message().build().key();
    assertThat(place.wrong()).isEmpty();
    long ignored = client.zrem("{redis}:outbox:ready", key);
    assertThat(place.wrong())
        .containsExactly("key %s has messages, and nobody finds it".formatted(key));
    ignored = client.zadd("{redis}:outbox:ready", 1, key);
    settle();
    assertThat(place.wrong()).as("after %s and %s have failed", first, second).isEmpty();
    ignored = client.hincrBy("{redis}:outbox:key:" + key, "failed", 1);
    ignored = client.zrem("{redis}:outbox:order:" + key, "2");
    ignored = client.zadd("{redis}:outbox:leases", 1, key);
    assertThat(place.wrong())
        .containsExactlyInAnyOrder(
            "message 2 of %s is in 0 places".formatted(key),
            "2 messages of %s have failed, and 3 are counted".formatted(key),
            "key %s is held, and free to be claimed".formatted(key));
    assertThat(place.held()).isEqualTo(1);
  }

  @Test
  @DisplayName("a key that is halted by a dead letter that is gone is seen")
  void halted() {
    Work halting = append(1, Kind.HALTING);
    Work behind = append(2, Kind.PLAIN);
    settle();
    assertThat(place.wrong()).as("%s halts %s", halting, behind).isEmpty();
    assertThat(place.waiting()).isEqualTo(2);
    String key = halting.message().build().key();
    double ignored = client.zincrby("{redis}:outbox:halted", 1, key);
    assertThat(place.wrong())
        .containsExactly("key %s is halted by 2 dead letters, of which 1 are there".formatted(key));
  }
}
