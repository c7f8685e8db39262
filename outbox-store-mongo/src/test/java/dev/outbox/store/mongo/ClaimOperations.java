package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.lt;
import static com.mongodb.client.model.Updates.set;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.mongo.FaultOperations.Attempt;
import dev.outbox.store.mongo.FaultOperations.Got;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** Claims, and what is done with them. */
final class ClaimOperations {
  private final FaultStage stage;

  ClaimOperations(FaultStage stage) {
    this.stage = stage;
  }

  Attempt claim() {
    Got<Claim> got = new Got<>();
    return new Attempt(
        () -> got.value = stage.store.claim(FaultStage.request()),
        failure -> {
          if (got.value != null) {
            deliverAll(got.value);
          } else if (couldGiveBack(failure)) {
            stage.assertNothingLeased();
          }
        });
  }

  /** A claim that fails gives its leases back, unless just that fails too. */
  private boolean couldGiveBack(@Nullable RuntimeException failure) {
    return failure != null
        && !stage.faults.lastAt("update")
        && !stage.faults.lastAt("commitTransaction");
  }

  /** All buckets are suspect: an attempt is counted before it is made. */
  private void suspectAll() {
    stage.collections.bucket().updateMany(lt("_id", 64), set("singles", 3));
  }

  /** One that fails may have counted the attempts all the same: nobody knows of its commit. */
  Attempt claimSingly() {
    suspectAll();
    Attempt claim = claim();
    return new Attempt(
        claim.work(),
        failure -> {
          if (failure != null) {
            stage.promises.allMayHaveFailed();
          }
          claim.then().accept(failure);
        });
  }

  private void deliverAll(Claim claim) {
    assertThat(claim.settle(deliveries(claim))).as("lost").isEmpty();
  }

  private Map<Long, Decision> deliveries(Claim claim) {
    Map<Long, Decision> decisions = new HashMap<>();
    for (StoredMessage message : claim.messages()) {
      stage.promises.decided(message, Decision.delivered());
      decisions.put(message.sequence(), Decision.delivered());
    }
    return decisions;
  }

  Attempt renew() {
    Claim claim = stage.store.claim(FaultStage.request());
    Got<Set<Long>> ours = new Got<>();
    return new Attempt(
        () -> ours.value = claim.renew(FaultStage.LEASE),
        failure -> {
          Set<Long> now = failure == null ? ours.value : claim.renew(FaultStage.LEASE);
          assertThat(now).containsExactlyInAnyOrderElementsOf(sequences(claim));
          deliverAll(claim);
        });
  }

  private static List<Long> sequences(Claim claim) {
    return claim.messages().stream().map(StoredMessage::sequence).toList();
  }

  Attempt settle() {
    return settle(stage.store.claim(FaultStage.request()));
  }

  /** Nothing is decided: each attempt that was counted is taken back. */
  Attempt settleSingly() {
    suspectAll();
    Claim claim = stage.store.claim(FaultStage.request());
    return settle(claim, Map.of());
  }

  Attempt settle(Claim claim) {
    return settle(claim, decisions(claim));
  }

  Attempt settle(Claim claim, Map<Long, Decision> decisions) {
    Got<Set<Long>> lost = new Got<>();
    return new Attempt(
        () -> lost.value = claim.settle(decisions),
        failure -> {
          if (failure == null) {
            assertThat(lost.value).as("lost").isEmpty();
            assertSettled(claim, decisions);
          } else {
            repeat(claim, decisions);
          }
        });
  }

  /** Of each kind one, and what comes behind a failed one of its key is not decided. */
  private Map<Long, Decision> decisions(Claim claim) {
    Map<String, Decision> bad =
        Map.of(
            "fails", Decision.retry(Duration.ZERO, "failed again"),
            "by hand", Decision.retryUncounted(Duration.ofHours(1), "unavailable"),
            "plain", Decision.deadHaltingKey("rejected"),
            "other", Decision.dead("rejected"));
    Map<Long, Decision> decisions = new HashMap<>();
    Set<String> stopped = new HashSet<>();
    for (StoredMessage message : claim.messages()) {
      if (stopped.contains(message.key())) {
        continue;
      }
      Decision decision = bad.getOrDefault(message.key(), Decision.delivered());
      if (bad.containsKey(message.key())) {
        stopped.add(message.key());
      }
      stage.promises.decided(message, decision);
      decisions.put(message.sequence(), decision);
    }
    return decisions;
  }

  /** As a relay does; another one claims meanwhile, and gets only what is settled. */
  private void repeat(Claim claim, Map<Long, Decision> decisions) {
    Claim others = stage.steady.claim(FaultStage.request());
    Set<Long> lost = claim.settle(decisions);
    Set<String> taken =
        others.messages().stream().map(StoredMessage::key).collect(Collectors.toSet());
    assertThat(lost)
        .as("lost to one that claimed before the settle was repeated")
        .containsAll(
            claim.messages().stream()
                .filter(message -> taken.contains(message.key()))
                .map(StoredMessage::sequence)
                .toList());
    others.messages().forEach(stage.promises::assertAttempts);
    deliverAll(others);
  }

  private void assertSettled(Claim claim, Map<Long, Decision> decisions) {
    for (StoredMessage message : claim.messages()) {
      Decision decision = decisions.get(message.sequence());
      Document found =
          stage
              .collections
              .message()
              .find(eq("seq", Sequence.timestamp(message.sequence())))
              .first();
      if (decision instanceof Decision.Delivered) {
        assertThat(found).isNull();
      } else {
        boolean counts =
            decision instanceof Decision.Dead
                || decision instanceof Decision.Retry retry && retry.counts();
        assertThat(Documents.attempts(found))
            .as("attempts of %s after %s", message, decision)
            .isEqualTo(message.attempts() + (counts ? 1 : 0));
      }
    }
  }

  /** All are decided, so that buckets can be kept. */
  private Map<Long, Decision> lastOfEachFails(Claim claim) {
    Map<String, Long> last = new HashMap<>();
    claim.messages().forEach(message -> last.put(message.key(), message.sequence()));
    Map<Long, Decision> decisions = new HashMap<>();
    for (StoredMessage message : claim.messages()) {
      Decision decision =
          last.containsValue(message.sequence())
              ? Decision.retry(Duration.ZERO, "failed")
              : Decision.delivered();
      stage.promises.decided(message, decision);
      decisions.put(message.sequence(), decision);
    }
    return decisions;
  }

  /** A small batch, so that there is more in its buckets. */
  Attempt settleAndClaim() {
    Claim claim = stage.store.claim(new Claim.Request("relay", 4, 4_000_000, FaultStage.LEASE));
    Map<Long, Decision> decisions = lastOfEachFails(claim);
    Got<Settled> got = new Got<>();
    return new Attempt(
        () -> got.value = stage.store.settleAndClaim(claim, decisions, FaultStage.request()),
        failure -> {
          if (got.value != null) {
            assertThat(got.value.lost()).isEmpty();
            assertSettled(claim, decisions);
            deliverAll(got.value.next());
          } else {
            repeat(claim, decisions);
          }
        });
  }
}
