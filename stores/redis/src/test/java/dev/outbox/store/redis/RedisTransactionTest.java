package dev.outbox.store.redis;

import static dev.outbox.tck.internal.Decisions.all;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.InstanceOfAssertFactories.type;
import static org.awaitility.Awaitility.await;

import dev.outbox.NoTransactionException;
import dev.outbox.OutboxException;
import dev.outbox.OutboxMessage;
import dev.outbox.PermanentOutboxException;
import dev.outbox.SchemaException;
import dev.outbox.TransientOutboxException;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Fingerprint;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.Response;
import redis.clients.jedis.exceptions.JedisDataException;

/** The transaction that outbox and inbox join, beside the caller's own commands. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RedisTransactionTest {
  private static final InboxKey KEY = new InboxKey("shipping", "m");
  private TestRedis redis;
  private RedisOutboxStore outbox;
  private RedisInboxStore inbox;

  @BeforeAll
  void start() {
    redis = new TestRedis();
    outbox = RedisOutboxStore.of(redis.client, redis.name);
    inbox = RedisInboxStore.of(redis.client, redis.name);
    outbox.migrate();
    inbox.migrate();
  }

  @AfterAll
  void stop() {
    redis.close();
  }

  @AfterEach
  void reset() {
    redis.reset("outbox");
    redis.reset("inbox");
    long unused = redis.client.del(own());
  }

  /** A key of the caller's. */
  private String own() {
    return "{%s}:order:1".formatted(redis.name);
  }

  private static OutboxMessage.Builder message() {
    return OutboxMessage.builder().aggregate("order", "1").eventType("OrderPaid").payload("{}");
  }

  private List<StoredMessage> due() {
    return outbox
        .claim(new Claim.Request("test", 100, 1_000_000, Duration.ofMinutes(1)))
        .messages();
  }

  private RedisTransaction begin() {
    return RedisTransaction.begin(redis.client);
  }

  @ParameterizedTest
  @EnumSource(names = {"LOSE_REQUEST", "LOSE_REPLY"})
  @DisplayName("a fault that nothing met is not left for the next request")
  void faultIsNotLeft(LossyProxy.Fault fault) {
    assertThat(redis.breaking(fault, () -> {})).isFalse();
    assertThat(redis.client.ping()).isEqualTo("PONG");
  }

  @Test
  @DisplayName("the caller's commands, a message and a record are there after exec, all or none")
  void together() {
    for (boolean commits : new boolean[] {false, true}) {
      try (RedisTransaction transaction = begin()) {
        Response<Long> own = transaction.incr(own());
        assertThat(inbox.firstTime(transaction, KEY)).isTrue();
        assertThat(outbox.append(transaction, message().dedupKey("d").build()).allStored())
            .isTrue();
        assertThat(redis.client.get(own())).as("before exec").isNull();
        if (commits) {
          assertThat(transaction.exec()).hasSize(3).first().isEqualTo(1L);
          assertThat(own.get()).isEqualTo(1);
        }
      }
    }
    assertThat(due()).hasSize(1);
    assertThat(redis.client.get(own())).isEqualTo("1");
    assertThat(inbox.begin(KEY, Duration.ofMinutes(1))).isInstanceOf(Begin.Done.class);
    assertThat(redis.client.keys("*hold:*")).as("what stays held").isEmpty();
  }

  @Test
  @DisplayName(
      "a key that the caller watches and another changes: nothing happens, and exec says so")
  void watched() {
    try (RedisTransaction transaction = begin()) {
      String unused = transaction.watch(own());
      var appended = outbox.append(transaction, message().dedupKey("d").build());
      assertThat(appended.allStored()).isTrue();
      String ignored = redis.client.set(own(), "changed");
      assertThatThrownBy(transaction::exec)
          .isInstanceOf(TransientOutboxException.class)
          .hasMessageContaining("run the whole transaction again");
    }
    assertThat(due()).isEmpty();
    redis.inTransaction(
        t ->
            assertThat(outbox.append(t, message().dedupKey("d").build()).allStored())
                .as("the dedup key is free again")
                .isTrue());
  }

  @Test
  @DisplayName("what a transaction holds and has lost makes its exec fail")
  void lostHold() {
    String key = "{%s}:outbox:dedup:d".formatted(redis.name);
    try (RedisTransaction transaction = begin()) {
      var appended = outbox.append(transaction, message().dedupKey("d").build());
      assertThat(appended.allStored()).isTrue();
      assertThat(redis.client.pttl(key)).isBetween(1L, RedisTransaction.LONGEST.toMillis());
      long unused = redis.client.del(key); // as when it runs out
      redis.inTransaction(t -> outbox.append(t, message().dedupKey("d").build()));
      assertThatThrownBy(transaction::exec).isInstanceOf(TransientOutboxException.class);
    }
    assertThat(due()).hasSize(1);
    assertThat(redis.client.get(key)).isEqualTo("appended");
  }

  @Test
  @DisplayName("a hold that runs out by its time makes exec fail, too")
  void holdRunsOut() {
    String key = "{%s}:inbox:hold:shipping:m".formatted(redis.name);
    try (RedisTransaction transaction =
        RedisTransaction.begin(redis.client, Duration.ofMillis(300))) {
      assertThat(inbox.firstTime(transaction, KEY)).isTrue();
      await().until(() -> !redis.client.exists(key));
      assertThatThrownBy(transaction::exec).isInstanceOf(TransientOutboxException.class);
    }
    assertThat(inbox.begin(KEY, Duration.ofMinutes(1))).isInstanceOf(Begin.Started.class);
  }

  @Test
  @DisplayName(
      "a command of the caller's that fails inside of exec undoes nothing: its error is in the list")
  void doesNotUndo() {
    String unused = redis.client.set(own(), "text");
    try (RedisTransaction transaction = begin()) {
      var list = transaction.lpush(own(), "wrong type");
      var appended = outbox.append(transaction, message().build());
      assertThat(appended.allStored()).isTrue();
      assertThat(transaction.exec().get(0)).isInstanceOf(JedisDataException.class);
      assertThatThrownBy(list::get).isInstanceOf(JedisDataException.class);
    }
    assertThat(due()).hasSize(1);
  }

  @Test
  @DisplayName("a command that is refused before exec: nothing happens")
  void refused() {
    try (RedisTransaction transaction = begin()) {
      var appended = outbox.append(transaction, message().build());
      assertThat(appended.allStored()).isTrue();
      var wrong = transaction.sendCommand(new CommandArguments(Command.GET));
      assertThatThrownBy(transaction::exec)
          .isInstanceOf(OutboxException.class)
          .hasMessageContaining("wrong number of arguments");
      assertThat(wrong).isNotNull();
    }
    assertThat(due()).isEmpty();
  }

  @Test
  @DisplayName(
      "a schema that is gone, or another, since the store was verified: nothing happens at all")
  void schemaGone() {
    for (String version : new String[] {null, "2"}) {
      redis.inTransaction(t -> outbox.append(t, message().build())); // so it is verified
      try (RedisTransaction transaction = begin()) {
        Response<Long> own = transaction.incr(own());
        var appended = outbox.append(transaction, message().build());
        assertThat(appended.allStored()).isTrue();
        var unused =
            version == null
                ? redis.client.del(redis.schema("outbox"))
                : redis.client.set(redis.schema("outbox"), version);
        assertThatThrownBy(transaction::exec)
            .isInstanceOf(SchemaException.class)
            .hasMessageContaining("{%s}:outbox:".formatted(redis.name));
        assertThat(own).isNotNull();
      }
      assertThat(redis.client.get(own())).isNull();
      assertThat(redis.client.get(redis.schema("outbox"))).isEqualTo(version);
      long unused = redis.client.del(redis.schema("outbox"));
      outbox.migrate();
      assertThat(due()).hasSize(1);
      redis.reset("outbox");
    }
  }

  @Test
  @DisplayName("an append of another program's that cannot be stored writes nothing")
  void badAppends() {
    String[] good = {"id", "x", "aggregateType", "a", "aggregateId", "b", "eventType", "c"};
    Map<String, List<String>> appends =
        Map.of(
            "the time for dedup keys is 1e3",
            List.of("1e3", "", "0"),
            "the time for dedup keys is 9999999999999999999",
            List.of("9999999999999999999", "", "0"),
            "the delay is nan",
            List.of("1000", "nan", "0"),
            "the number of fields is 7",
            List.of("1000", "", "7", "id", "x"),
            "the number of fields is -1",
            List.of("1000", "", "-1"),
            "the field id is there twice",
            List.of("1000", "", "2", "id", "x", "id", "y"),
            "availableAt is abc",
            Stream.of(
                    List.of("1000", "", "5"),
                    List.of(good),
                    List.of("payload", "{}"),
                    List.of("", "6"),
                    List.of(good),
                    List.of("payload", "{}", "availableAt", "abc"))
                .flatMap(List::stream)
                .toList());
    appends.forEach(
        (problem, arguments) -> {
          try (RedisTransaction transaction = begin()) {
            var unused =
                transaction.sendCommand(
                    RedisOutboxStore.APPEND.whole(
                        List.of("{%s}:outbox:".formatted(redis.name).getBytes(UTF_8)),
                        Server.arguments().addAll(arguments).list()));
            assertThat(transaction.exec())
                .singleElement()
                .asInstanceOf(type(JedisDataException.class))
                .extracting(Throwable::getMessage)
                .asString()
                .contains("OUTBOXLIMIT " + problem);
          }
        });
    assertThat(redis.client.keys("{%s}:outbox:*".formatted(redis.name)))
        .containsExactly(redis.schema("outbox"));
  }

  @Test
  @DisplayName("beside an open transaction begin says in progress, and first that it is another")
  void heldAndOther() {
    Duration minute = Duration.ofMinutes(1);
    var started =
        (Begin.Started<RedisTransaction>)
            inbox.begin(KEY, minute, Fingerprint.of(new byte[] {'a'}));
    try (RedisTransaction transaction = begin()) {
      assertThat(started.lock().complete(transaction, InboxResult.none())).isTrue();
      assertThat(inbox.begin(KEY, minute, Fingerprint.of(new byte[] {'b'})))
          .isInstanceOf(Begin.Mismatch.class);
      assertThat(inbox.begin(KEY, minute, Fingerprint.of(new byte[] {'a'})))
          .isInstanceOf(Begin.InProgress.class);
      assertThat(transaction.exec()).containsExactly(1L);
    }
    assertThat(inbox.begin(KEY, minute, Fingerprint.of(new byte[] {'a'})))
        .isInstanceOf(Begin.Done.class);
  }

  @Test
  @DisplayName("statistics are exact below the cap beside many keys that add nothing to a figure")
  void statisticsBesideFailures() {
    int failed = 250; // of a cap of 2
    redis.inTransaction(
        t -> {
          for (int i = 0; i < failed; i++) {
            var unused = outbox.append(t, message().aggregate("order", "failed" + i).build());
          }
        });
    Claim claim = outbox.claim(new Claim.Request("test", failed, 1_000_000, Duration.ofMinutes(1)));
    assertThat(claim.settle(all(claim, Decision.retry(Duration.ZERO, "no")))).isEmpty();
    redis.inTransaction(t -> outbox.append(t, message().build()));
    var statistics = outbox.statistics(2);
    assertThat(statistics.pending()).isEqualTo(1);
    assertThat(statistics.oldestFree()).isNotNull();
    assertThat(statistics.blocked()).isEqualTo(2);
    assertThat(outbox.statistics(failed + 1).blockedKeys()).isEqualTo(failed);
  }

  @Test
  @DisplayName("a message that others have removed or damaged stops no other (C7)")
  void damaged() {
    String prefix = "{%s}:outbox:".formatted(redis.name);
    List<Object> sequences = new ArrayList<>();
    for (String key : List.of("gone", "gone", "createdAt", "attempts", "key", "whole", "delayed")) {
      try (RedisTransaction transaction = begin()) {
        OutboxMessage.Builder message = message().aggregate("order", key);
        if (key.equals("delayed")) {
          message.deliverAfter(Duration.ofHours(1));
        }
        var appended = outbox.append(transaction, message.build());
        assertThat(appended.allStored()).isTrue();
        sequences.add(((List<?>) transaction.exec().get(0)).get(0));
      }
    }
    String hashes = prefix + "message:";
    long unused;
    unused =
        redis.client.del(
            hashes + sequences.get(0), hashes + sequences.get(1), hashes + sequences.get(6));
    unused = redis.client.hset(hashes + sequences.get(2), "createdAt", "yesterday");
    unused = redis.client.hset(hashes + sequences.get(3), "attempts", "many");
    unused = redis.client.hdel(hashes + sequences.get(4), "key");
    redis.earlier("outbox", Duration.ofHours(2), "delayed");
    Claim claim = outbox.claim(new Claim.Request("test", 100, 1_000_000, Duration.ofMinutes(1)));
    assertThat(claim.messages())
        .extracting(StoredMessage::key, StoredMessage::problem)
        .containsExactly(
            tuple("order/createdAt", "createdAt is yesterday, which is no number"),
            tuple("order/attempts", "attempts is many, which is no number"),
            tuple("order/key", null),
            tuple("order/whole", null));
    assertThat(outbox.statistics(10).pending()).isEqualTo(4);
    assertThat(claim.settle(all(claim, Decision.delivered()))).isEmpty();
    assertThat(redis.client.keys(prefix + "message:*")).isEmpty();
    assertThat(redis.client.keys(prefix + "order:*")).isEmpty();
    assertThat(redis.client.keys(prefix + "key:*")).isEmpty();
  }

  @Test
  @DisplayName(
      "a command of the outbox that fails inside of exec: all responses are set, nothing stays held")
  void failsInside() {
    String sequence = "{%s}:outbox:sequence".formatted(redis.name);
    try (RedisTransaction transaction = begin()) {
      assertThat(inbox.firstTime(transaction, KEY)).isTrue();
      var appended = outbox.append(transaction, message().dedupKey("d").build());
      assertThat(appended.allStored()).isTrue();
      Response<Long> own = transaction.incr(own());
      String unused = redis.client.set(sequence, "no number");
      assertThatThrownBy(transaction::exec).isInstanceOf(PermanentOutboxException.class);
      assertThat(own.get()).isEqualTo(1);
    }
    assertThat(redis.client.keys("*hold:*")).isEmpty();
    assertThat(redis.client.keys("*dedup:*")).isEmpty();
  }

  @ParameterizedTest
  @DisplayName("a reason for which EXEC itself is refused is told as that of any other command")
  @CsvSource(
      quoteCharacter = '"',
      value = {
        "OOM command not allowed when used memory > 'maxmemory'., true, no memory left",
        "READONLY You can't write against a read only replica., true, after a failover",
        "NOPERM this user has no permissions to run the 'exec' command, false, refused a command"
      })
  void execRefused(String reason, boolean passing, String told) {
    JedisDataException refused =
        new JedisDataException("EXECABORT Transaction discarded because of: " + reason);
    assertThat(Errors.translate(refused, ""))
        .isInstanceOf(passing ? TransientOutboxException.class : PermanentOutboxException.class)
        .hasMessageContaining(told);
  }

  @Test
  @DisplayName("a transaction in which an append was told to run again cannot be committed")
  void goesOnAfterConflict() {
    try (RedisTransaction first = begin();
        RedisTransaction second = begin()) {
      var appended = outbox.append(first, message().dedupKey("d").build());
      assertThat(appended.allStored()).isTrue();
      Response<Long> own = second.incr(own());
      assertThatThrownBy(() -> outbox.append(second, message().dedupKey("d").build()))
          .isInstanceOf(TransientOutboxException.class);
      assertThatThrownBy(second::exec)
          .isInstanceOf(TransientOutboxException.class)
          .hasMessageContaining("run the whole transaction again");
      assertThat(own).isNotNull();
      assertThat(first.exec()).hasSize(1);
    }
    assertThat(redis.client.exists(own())).isFalse();
    assertThat(due()).hasSize(1);
  }

  @Test
  @DisplayName("a transaction that has ended takes nothing more; unwatch is refused")
  void ended() {
    try (RedisTransaction transaction = begin()) {
      transaction.multi();
      assertThatThrownBy(transaction::unwatch).isInstanceOf(UnsupportedOperationException.class);
      assertThat(transaction.exec()).isEmpty();
      assertThatThrownBy(transaction::exec).isInstanceOf(NoTransactionException.class);
      assertThatThrownBy(() -> transaction.incr(own())).isInstanceOf(NoTransactionException.class);
      assertThatThrownBy(() -> outbox.append(transaction, message().build()))
          .isInstanceOf(NoTransactionException.class);
    }
  }
}
