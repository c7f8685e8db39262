package dev.outbox.store.core.internal;

import static dev.outbox.store.core.internal.ClaimsTest.FOUR;
import static dev.outbox.store.core.internal.ClaimsTest.delivered;
import static dev.outbox.store.core.internal.ClaimsTest.sequences;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.store.core.internal.FakeDatabase.Trouble;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A bucket that is kept")
class KeptTest {
  private static final Duration IDLE = Duration.ofSeconds(1);

  private final FakeDatabase database = new FakeDatabase(false);
  private final StoreOperations<String> operations =
      new StoreOperations<>(
          database.asked(),
          database.transactions,
          Retention.of(Duration.ofDays(1)),
          () -> database.clock);
  private final Kept kept = operations.keep(IDLE, new ClaimIds());
  private long last;

  @AfterEach
  void nothingForbidden() {
    assertThat(database.misuse).isEmpty();
  }

  private Claim claim() {
    return operations.claim(FOUR, kept);
  }

  private Settled settle(Claim claim) {
    return operations.settleAndClaim(kept, claim, delivered(claim), FOUR).orElseThrow();
  }

  /** A message of the bucket comes, and is delivered by the next claim. */
  private void serve(int bucket) {
    database.add(bucket, ++last, false);
    Claim claim = claim();
    assertThat(sequences(claim)).containsExactly(last);
    Settled settled = settle(claim);
    assertThat(settled.lost()).isEmpty();
    assertThat(settled.next().messages()).isEmpty();
  }

  private void keep(int bucket) {
    serve(bucket);
    serve(bucket);
    assertThat(database.held()).contains(bucket);
    database.asked.clear();
  }

  /** What was asked since, without by whom. */
  private List<String> asked() {
    List<String> asked =
        database.asked.stream().map(each -> each.substring(each.indexOf(':') + 2)).toList();
    database.asked.clear();
    return asked;
  }

  @Test
  @DisplayName("is looked at, and costs three statements a message")
  void cheap() {
    keep(1);
    serve(1);
    assertThat(asked()).containsExactly("look", "lockHeld", "delete");
    assertThat(database.held()).containsExactly(1);
  }

  @Test
  @DisplayName("costs two statements a message where one settles a few messages")
  void cheaper() {
    keep(1);
    database.mostDeletedWithLock = 2;
    serve(1);
    assertThat(asked()).containsExactly("look", "lockHeldAndDelete");
    assertThat(database.held()).containsExactly(1);
    assertThat(database.left()).isEmpty();
    database.add(1, last + 1, last + 3);
    last += 3;
    assertThat(settle(claim()).lost()).isEmpty();
    assertThat(asked()).as("of many").containsExactly("look", "lockHeld", "delete");
    database.add(1, ++last, false);
    Claim claim = claim();
    assertThat(claim.settle(Map.of())).isEmpty();
    assertThat(asked())
        .as("of one without a decision")
        .containsExactly("look", "lockHeld", "release");
  }

  @Test
  @DisplayName("is settled by one statement only as far as it is still held")
  void lostBeforeTheSettle() {
    keep(1);
    database.elsewhere = true;
    keep(2);
    database.mostDeletedWithLock = 2;
    database.add(1, ++last, false);
    long lost = last;
    database.add(2, ++last, false);
    Claim claim = claim();
    database.lose(1);
    Settled settled = settle(claim);
    assertThat(settled.lost()).containsExactly(lost);
    assertThat(database.left()).containsExactly(lost);
    assertThat(claim().messages()).isEmpty();
  }

  @Test
  @DisplayName("is settled again, and not kept, when it is not known whether one statement did it")
  void lostReplyOfOneStatement() {
    keep(1);
    database.mostDeletedWithLock = 2;
    database.add(1, ++last, false);
    Claim claim = claim();
    database.troubles.add(Trouble.LOST_REPLY);
    assertThatThrownBy(() -> settle(claim)).isInstanceOf(TransientOutboxException.class);
    assertThat(claim.settle(delivered(claim))).isEmpty();
    assertThat(database.held()).isEmpty();
  }

  @Test
  @DisplayName("need not be looked at again after a settle, unless others may have messages")
  void settled() {
    keep(1);
    database.add(1, ++last, false);
    assertThat(settle(claim()).next().pollAgain()).isFalse();
    database.elsewhere = true;
    database.add(1, ++last, false);
    assertThat(settle(claim()).next().pollAgain()).isTrue();
  }

  @Test
  @DisplayName("was served twice within the time; else it is given back with its message")
  void seldom() {
    for (int i = 0; i < 3; i++) {
      serve(1);
      assertThat(database.held()).isEmpty();
      database.clock += IDLE.toNanos();
    }
  }

  @Test
  @DisplayName("is given back when it had no messages for so long")
  void idle() {
    keep(1);
    for (int i = 0; i < 9; i++) {
      database.clock += IDLE.dividedBy(10).toNanos();
      assertThat(claim().messages()).isEmpty();
      assertThat(database.held()).containsExactly(1);
    }
    database.clock += IDLE.dividedBy(10).toNanos();
    assertThat(claim().messages()).isEmpty();
    assertThat(database.held()).isEmpty();
  }

  @Test
  @DisplayName("is not given back before others are looked for, now and then at least")
  void others() {
    keep(1);
    database.add(2, ++last, false);
    assertThat(claim().messages()).as("a look says that there is nothing elsewhere").isEmpty();
    database.elsewhere = true;
    assertThat(sequences(claim())).containsExactly(last);
    database.elsewhere = false;
    database.add(3, ++last, false);
    database.clock += Duration.ofMillis(250).toNanos();
    assertThat(sequences(claim())).containsExactly(last);
    assertThat(database.held()).containsExactlyInAnyOrder(1, 2, 3);
  }

  @Test
  @DisplayName("is given back with all others when its messages kept others waiting for too long")
  void busy() {
    keep(1);
    database.elsewhere = true;
    database.add(2, ++last, false);
    long waiting = last;
    List<Long> came = new ArrayList<>();
    for (int i = 0; i < 20 && !came.contains(waiting); i++) {
      database.clock += Duration.ofMillis(100).toNanos();
      database.add(1, ++last, false);
      for (Claim claim = claim(); !claim.messages().isEmpty(); claim = settle(claim).next()) {
        came.addAll(sequences(claim));
      }
    }
    assertThat(came).contains(waiting).hasSize(7);
  }

  @Test
  @DisplayName("is locked before it is read when a look cannot be sure")
  void unsure() {
    keep(1);
    database.looksAreSure = false;
    database.add(1, ++last, false);
    Claim claim = claim();
    assertThat(sequences(claim)).containsExactly(last);
    assertThat(asked()).startsWith("look", "lockHeld").contains("readPending");
    settle(claim);
    assertThat(database.held()).containsExactly(1);
  }

  @Test
  @DisplayName("is prolonged after a look that brought what may not be durable")
  void notDurable() {
    keep(1);
    database.looksAreDurable = false;
    serve(1);
    assertThat(asked()).containsExactly("look", "look", "renew", "lockHeld", "delete");
    serve(1);
    assertThat(asked())
        .as("in one transaction")
        .containsExactly("look", "renew", "lockHeld", "delete");
    assertThat(database.held()).containsExactly(1);
    assertThat(claim().messages()).isEmpty();
    assertThat(asked()).as("nothing was brought").contains("look").doesNotContain("renew");
  }

  @Test
  @DisplayName("is lost when another took it over after the look, before it was prolonged")
  void lostAfterTheLook() {
    keep(1);
    database.looksAreDurable = false;
    serve(1);
    asked();
    database.losesAfterLook = true;
    database.add(1, ++last, false);
    assertThat(claim().messages()).isEmpty();
    assertThat(asked()).startsWith("look", "renew", "lockHeld").doesNotContain("readPending");
  }

  @Test
  @DisplayName("waits for the next claim when it cannot be prolonged")
  void failedRenewal() {
    keep(1);
    database.looksAreDurable = false;
    database.add(1, ++last, false);
    database.troubles.add(Trouble.ROLLBACK);
    assertThatThrownBy(this::claim).isInstanceOf(TransientOutboxException.class);
    assertThat(sequences(claim())).containsExactly(last);
  }

  @Test
  @DisplayName("is given back when no worker has claimed for so long")
  void unused() {
    keep(1);
    database.clock += IDLE.toNanos() - 1;
    operations.giveBackUnused(kept);
    assertThat(database.held()).containsExactly(1);
    database.clock++;
    operations.giveBackUnused(kept);
    assertThat(database.held()).isEmpty();
    serve(1);
    serve(1);
    assertThat(database.held()).as("kept again").containsExactly(1);
  }

  @Test
  @DisplayName("is prolonged before a claim would be shorter than it was asked for")
  void prolonged() {
    database.left = FOUR.lease();
    keep(1);
    database.clock += Duration.ofMillis(1).toNanos();
    database.add(1, ++last, false);
    assertThat(sequences(claim())).containsExactly(last);
    assertThat(asked()).startsWith("lockHeld").doesNotContain("look");
  }

  @Test
  @DisplayName("is in the hands of one worker, or of none")
  void oneWorker() {
    keep(1);
    database.add(1, ++last, false);
    Claim claim = claim();
    assertThat(sequences(claim)).containsExactly(last);
    database.asked.clear();
    assertThat(claim().messages()).as("another worker's claim").isEmpty();
    assertThat(asked()).doesNotContain("look");
    assertThat(settle(claim).lost()).isEmpty();
  }

  @Test
  @DisplayName("waits for the next claim when a look fails")
  void failedLook() {
    keep(1);
    database.add(1, ++last, false);
    database.troubles.add(Trouble.ROLLBACK);
    assertThatThrownBy(this::claim).isInstanceOf(TransientOutboxException.class);
    assertThat(sequences(claim())).containsExactly(last);
    assertThat(asked()).containsExactly("look", "look");
  }

  @Test
  @DisplayName("waits for nobody while it is not known whether its settle was carried out")
  void lostReply() {
    keep(1);
    database.add(1, ++last, false);
    Claim claim = claim();
    database.troubles.add(Trouble.LOST_REPLY);
    assertThatThrownBy(() -> settle(claim)).isInstanceOf(TransientOutboxException.class);
    database.asked.clear();
    assertThat(claim().messages()).as("another worker's claim").isEmpty();
    assertThat(asked()).doesNotContain("look");
    assertThat(settle(claim).lost()).isEmpty();
    assertThat(claim().messages()).isEmpty();
    assertThat(asked()).contains("look");
  }

  @Test
  @DisplayName("is given back with a message that was not delivered")
  void troubled() {
    keep(1);
    database.add(1, ++last, false);
    Claim claim = claim();
    operations.settleAndClaim(kept, claim, Map.of(), FOUR).orElseThrow().next().settle(Map.of());
    assertThat(database.held()).isEmpty();
  }

  @Test
  @DisplayName("is lost when another took it over")
  void lost() {
    keep(1);
    database.lose(1);
    database.add(1, ++last, false);
    assertThat(claim().messages()).isEmpty();
    assertThat(asked()).contains("look", "lockHeld");
    assertThat(claim().messages()).isEmpty();
    assertThat(asked()).doesNotContain("look");
  }

  @Test
  @DisplayName("is given back by a relay that ends, and by its workers when they settle after that")
  void letGo() {
    keep(1);
    keep(2, 1);
    database.add(1, ++last, false);
    Claim claim = claim();
    operations.letGo(kept);
    assertThat(database.held()).containsExactly(1);
    settle(claim);
    assertThat(database.held()).isEmpty();
    operations.letGo(kept);
  }

  private void keep(int bucket, int other) {
    database.elsewhere = true;
    serve(bucket);
    serve(bucket);
    database.elsewhere = false;
    assertThat(database.held()).containsExactlyInAnyOrder(bucket, other);
  }

  @Test
  @DisplayName(
      "is given back where the database cannot be looked at, and none is kept from then on")
  void cannotLook() {
    keep(1);
    database.cannotLook = true;
    for (int i = 0; i < 3; i++) {
      serve(1);
      assertThat(database.held()).isEmpty();
    }
    assertThat(asked()).containsOnlyOnce("look");
  }

  @Test
  @DisplayName("is looked at together with all others that wait, in one statement")
  void many() {
    database.elsewhere = true;
    List<Integer> buckets = List.of(1, 2, 3);
    for (int i = 0; i < 2; i++) {
      buckets.forEach(this::serve);
    }
    assertThat(database.held()).containsExactlyInAnyOrderElementsOf(buckets);
    database.elsewhere = false;
    List<Long> added = new ArrayList<>();
    for (int bucket : buckets) {
      database.add(bucket, ++last, false);
      added.add(last);
    }
    database.asked.clear();
    Claim claim = claim();
    assertThat(sequences(claim)).isEqualTo(added);
    assertThat(asked()).containsExactly("look");
    assertThat(settle(claim).lost()).isEmpty();
  }
}
