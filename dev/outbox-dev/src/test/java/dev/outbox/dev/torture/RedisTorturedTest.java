package dev.outbox.dev.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.dev.torture.Handling.Way;
import dev.outbox.dev.torture.Oracle.Committed;
import dev.outbox.dev.torture.Place.Business;
import dev.outbox.dev.torture.Place.Effect;
import dev.outbox.dev.torture.Work.Kind;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
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
class RedisTorturedTest {
  private static final Claim.Request REQUEST =
      new Claim.Request("test", 100, 1_000_000, Duration.ofMinutes(1));

  private RedisTortured tortured;
  private RedisPlace place;
  private RedisClient client;

  @BeforeEach
  void start() {
    try {
      tortured = RedisTortured.start();
      tortured.place().create(1);
      tortured.place().createInbox();
    } catch (UnsupportedOperationException e) {
      throw new TestAbortedException("skipped: " + e.getMessage());
    }
    String url = tortured.settings(tortured.port()).get("url");
    place = new RedisPlace(url, 1);
    client = RedisUrl.of(url).client(1);
  }

  @AfterEach
  void stop() {
    if (tortured != null) {
      client.close();
      place.close();
      tortured.close();
    }
  }

  private Work append(int nth, Kind kind) {
    Work work = new Work(UUID.randomUUID(), "key-1", nth, kind);
    try (Business business = place.begin()) {
      assertThat(business.lock("key-1")).isEqualTo(nth - 1);
      assertThat(business.append(List.of(work.message().build()))).isEmpty();
      business.appended(work, nth == 1 ? null : "d" + nth);
      business.last("key-1", nth);
      business.commit();
    }
    return work;
  }

  /** By kind. */
  private void settle() {
    Claim claim = tortured.store().claim(REQUEST);
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
    try (Business business = place.begin()) {
      business.last("key-1", 17);
      business.refused(UUID.randomUUID(), "d2");
    }
    assertThat(tortured.committed())
        .containsExactly(new Committed(first, null), new Committed(second, "d2"));
    assertThat(tortured.refused()).as("of a transaction that was rolled back").isEmpty();
    assertThat(tortured.waiting()).isEqualTo(2);
    settle();
    assertThat(tortured.waiting()).as("without what is dead for good").isEqualTo(1);
    assertThat(tortured.firstWaiting()).contains("key-1 PLAIN later");
    assertThat(tortured.deadLetters())
        .extracting(Oracle.DeadLetter::id)
        .containsExactly(first.id());
    assertThat(tortured.wrong()).isEmpty();

    for (boolean commits : new boolean[] {true, false, true}) {
      boolean did =
          place.run(
              transaction -> {
                place.effect(transaction, Way.LOCKED, first.id());
                return commits;
              });
      assertThat(did).isEqualTo(commits);
    }
    Effect effect = new Effect("LOCKED", first.id().toString());
    assertThat(tortured.place().effects()).containsExactly(effect, effect);
  }

  @Test
  @DisplayName("keys and messages that nobody finds are seen, and counts that are wrong")
  void wrong() {
    Work first = append(1, Kind.PLAIN);
    Work second = append(2, Kind.PLAIN);
    String key = first.message().build().key();
    assertThat(tortured.wrong()).isEmpty();
    long ignored = client.zrem("{redis}:outbox:ready", key);
    assertThat(tortured.wrong())
        .containsExactly("key %s has messages, and nobody finds it".formatted(key));
    ignored = client.zadd("{redis}:outbox:ready", 1, key);
    settle();
    assertThat(tortured.wrong()).as("after %s and %s have failed", first, second).isEmpty();
    ignored = client.hincrBy("{redis}:outbox:key:" + key, "failed", 1);
    ignored = client.zrem("{redis}:outbox:order:" + key, "2");
    ignored = client.zadd("{redis}:outbox:leases", 1, key);
    assertThat(tortured.wrong())
        .containsExactlyInAnyOrder(
            "message 2 of %s is in 0 places".formatted(key),
            "2 messages of %s have failed, and 3 are counted".formatted(key),
            "key %s is held, and free to be claimed".formatted(key));
    assertThat(tortured.held()).isEqualTo(1);
  }

  @Test
  @DisplayName("a key that is halted by a dead letter that is gone is seen")
  void halted() {
    Work halting = append(1, Kind.HALTING);
    Work behind = append(2, Kind.PLAIN);
    settle();
    assertThat(tortured.wrong()).as("%s halts %s", halting, behind).isEmpty();
    assertThat(tortured.waiting()).isEqualTo(2);
    String key = halting.message().build().key();
    double ignored = client.zincrby("{redis}:outbox:halted", 1, key);
    assertThat(tortured.wrong())
        .containsExactly("key %s is halted by 2 dead letters, of which 1 are there".formatted(key));
  }
}
