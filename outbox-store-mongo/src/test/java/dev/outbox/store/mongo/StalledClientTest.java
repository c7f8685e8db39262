package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.and;
import static com.mongodb.client.model.Filters.empty;
import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.ne;
import static com.mongodb.client.model.Filters.nin;
import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.mongodb.client.MongoClient;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.mongo.Faults.Sent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * A client stops before a command of a claim, a renewal or a settle, for longer than its lease
 * (C4): another relay gets everything soon after the lease, long before the server itself would end
 * the transaction that stands open; and when the client goes on it changes nothing, and is told.
 */
@Isolated("a fail point is the whole server's")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class StalledClientTest {
  private static final Duration SHORT = Duration.ofMillis(300);

  private FaultStage stage;
  private final Stopping stopping = new Stopping();
  private MongoClient stalled;
  private MongoOutboxStore store;

  @BeforeAll
  void start() {
    stage = new FaultStage();
    stalled = stage.database.client(stopping);
    store = MongoOutboxStore.of(stalled, stage.database.database.getName());
    store.verify();
  }

  @AfterAll
  void stop() {
    if (stalled != null) {
      stalled.close();
    }
    if (stage != null) {
      stage.close();
    }
  }

  private static Claim.Request request() {
    return new Claim.Request("stalled", 100, 4_000_000, SHORT);
  }

  @TestFactory
  @DisplayName("a claim that is stopped")
  Stream<DynamicTest> claim() {
    stage.restoreAllDue();
    return each(stopping.commands(() -> store.claim(request())), this::stopInClaim);
  }

  private void stopInClaim(Sent command) {
    Stopping.Operation<Claim> claiming = stopping.before(command, () -> store.claim(request()));
    stage.drainAsTimePasses();
    try {
      Claim late = claiming.wake();
      assertThat(late.settle(all(late, Decision.delivered())))
          .as("lost")
          .hasSameSizeAs(late.messages());
    } catch (TransientOutboxException e) {
      assertThat(e).hasMessageContaining("run it again");
    }
  }

  @TestFactory
  @DisplayName("a settle that is stopped")
  Stream<DynamicTest> settle() {
    stage.restoreAllDue();
    Claim claim = store.claim(request());
    return each(stopping.commands(() -> claim.settle(decisions(claim))), this::stopInSettle);
  }

  private void stopInSettle(Sent command) {
    Claim claim = store.claim(request());
    Map<Long, Decision> decisions = decisions(claim);
    Stopping.Operation<Set<Long>> settling =
        stopping.before(command, () -> claim.settle(decisions));
    stage.drainAsTimePasses();
    assertAllLost(claim, settling, () -> claim.settle(decisions));
  }

  @TestFactory
  @DisplayName("a settle that goes on with its buckets, and is stopped")
  Stream<DynamicTest> settleAndClaim() {
    stage.restoreAllDue();
    Claim claim = store.claim(few());
    List<Sent> commands =
        stopping.commands(
            () -> store.settleAndClaim(claim, all(claim, Decision.delivered()), request()));
    // What comes then is a claim or more, which is tested above.
    return each(
        commands.subList(0, commands.indexOf(new Sent("commitTransaction", 1)) + 1),
        this::stopInSettleAndClaim);
  }

  /** So that there is more in its buckets. */
  private static Claim.Request few() {
    return new Claim.Request("stalled", 4, 4_000_000, SHORT);
  }

  private void stopInSettleAndClaim(Sent command) {
    Claim claim = store.claim(few());
    claim.messages().forEach(message -> stage.promises.decided(message, Decision.delivered()));
    Stopping.Operation<Set<Long>> settling =
        stopping.before(
            command,
            () -> store.settleAndClaim(claim, all(claim, Decision.delivered()), request()).lost());
    stage.drainAsTimePasses();
    assertAllLost(claim, settling, () -> claim.settle(all(claim, Decision.delivered())));
  }

  @TestFactory
  @DisplayName("a renewal that is stopped")
  Stream<DynamicTest> renew() {
    stage.restoreAllDue();
    Claim claim = store.claim(request());
    return each(stopping.commands(() -> claim.renew(SHORT)), this::stopInRenew);
  }

  private void stopInRenew(Sent command) {
    Claim claim = store.claim(request());
    Stopping.Operation<Set<Long>> renewing = stopping.before(command, () -> claim.renew(SHORT));
    stage.drainAsTimePasses();
    try {
      assertThat(renewing.wake()).as("still ours").isEmpty();
    } catch (TransientOutboxException e) {
      assertThat(claim.renew(SHORT)).as("still ours").isEmpty();
    }
    assertThat(claim.settle(decisions(claim))).hasSameSizeAs(claim.messages());
  }

  @Test
  @DisplayName("a settle that is stopped and whose session may not be ended: others get the rest")
  void killSessionsIsRefused() {
    stage.faults.failPoint.assumeThere();
    stage.restoreAllDue();
    Claim claim = store.claim(few());
    assertThat(claim.messages()).isNotEmpty();
    Stopping.Operation<Set<Long>> settling =
        stopping.before(
            new Sent("commitTransaction", 1), () -> claim.settle(all(claim, Decision.delivered())));
    stage.faults.failPoint.refuse("killSessions", 13);
    try {
      List<Integer> held =
          stage
              .collections
              .bucket()
              .find(eq("worker", "stalled"))
              .map(bucket -> bucket.getInteger("_id"))
              .into(new ArrayList<>());
      Bson others = and(ne("status", "DEAD"), ne("key", "halted"), nin("bucket", held));
      await()
          .atMost(Duration.ofSeconds(25))
          .until(
              () ->
                  stage.deliverNext() == 0
                      && stage.collections.message().countDocuments(others) == 0);
    } finally {
      stage.faults.failPoint.off();
    }
    assertThat(settling.wake()).as("lost, though nobody took over").isEmpty();
    claim.messages().forEach(message -> stage.promises.decided(message, Decision.delivered()));
    stage.drain();
  }

  /** The first and the last of each name; what comes between stops in the same place. */
  private Stream<DynamicTest> each(List<Sent> commands, Consumer<Sent> test) {
    Map<String, Integer> last = new HashMap<>();
    commands.forEach(command -> last.merge(command.command(), command.nth(), Math::max));
    return commands.stream()
        .filter(sent -> sent.nth() == 1 || sent.nth() == last.get(sent.command()))
        .map(
            command ->
                dynamicTest(
                    "before " + command,
                    () -> {
                      stage.restoreAllDue();
                      test.accept(command);
                      assertThat(stage.collections.message().countDocuments(empty()))
                          .as("messages, when the client has woken up")
                          .isZero();
                    }));
  }

  private void assertAllLost(
      Claim claim, Stopping.Operation<Set<Long>> stopped, Supplier<Set<Long>> again) {
    Set<Long> lost;
    try {
      lost = stopped.wake();
    } catch (TransientOutboxException e) {
      lost = again.get();
    }
    assertThat(lost)
        .as("lost")
        .containsExactlyInAnyOrderElementsOf(
            claim.messages().stream().map(StoredMessage::sequence).toList());
  }

  /** Of all kinds: so that a settle has all its commands. */
  private static Map<Long, Decision> decisions(Claim claim) {
    List<Decision> kinds =
        List.of(
            Decision.retry(Duration.ZERO, "failed"),
            Decision.delivered(),
            Decision.deadHaltingKey("rejected"));
    Map<Long, Decision> decisions = new HashMap<>();
    Map<String, Decision> byKey = new HashMap<>();
    for (StoredMessage message : claim.messages()) {
      byKey.putIfAbsent(message.key(), kinds.get(byKey.size() % kinds.size()));
      decisions.put(message.sequence(), byKey.get(message.key()));
    }
    return new HashMap<>(decisions);
  }
}
