package dev.outbox.tck.store;

import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.spi.store.KeepingStore.Uncommitted;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Patience;
import dev.outbox.tck.internal.Sentence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * C8 and C9. A store may keep a key or not, and hand a message over or not: what is said of what is
 * kept or handed over holds for what is not, too.
 */
@Rule("C9")
abstract class KeeperTests<T> extends StoreTests<T> {

  /** A key that has been served so often is kept by a store that ever keeps one. */
  private static final int OFTEN = 3;

  @SuppressWarnings("unchecked")
  KeepingStore<T> keeping() {
    return (KeepingStore<T>) tck.ability(KeepingStore.class);
  }

  Keeper keeper(Duration unclaimed) {
    return keeping().keeper(unclaimed);
  }

  /** One that keeps the key "k", in a store that ever keeps one. */
  Keeper keeperOfKey() {
    Keeper keeper = keeper(LONG);
    serveOften(keeper, "k", LONG);
    return keeper;
  }

  /** The same, of a relay that crashed or stands still, with a short lease. */
  Keeper keeperThatStandsStill() {
    Keeper keeper = keeper(LONG);
    requires("C4", () -> serveOften(keeper, "k", soon()));
    tck.stopHolding();
    return keeper;
  }

  /** Delivers what is due, in claims that follow each other, and says what was lost, each time. */
  private List<Long> deliver(Claim.Source source, Duration lease, List<UUID> came) {
    Claim.Request request = request(100, lease);
    List<Long> lost = new ArrayList<>();
    Claim claim = claim(source, request);
    while (!claim.messages().isEmpty()) {
      came.addAll(ids(claim));
      Settled settled = source.settleAndClaim(claim, delivered(claim), request);
      lost.addAll(settled.lost());
      claim = settled.next();
    }
    return lost;
  }

  static Map<Long, Decision> delivered(Claim claim) {
    return all(claim, Decision.delivered());
  }

  Claim awaitClaim(String what, Keeper keeper, int most) {
    return tck.await(what, () -> nonEmpty(claim(keeper, request(most, LONG))));
  }

  /** Settles, gives back what is claimed with that, and says what was lost. */
  Set<Long> settleAndGoOn(Keeper keeper, Claim done, Map<Long, Decision> decisions) {
    Settled settled = keeper.settleAndClaim(done, decisions, request(100, LONG));
    release(settled.next());
    return settled.lost();
  }

  /** Delivers until as many have come as these, which must come in this order. */
  void assertDelivered(String what, Keeper keeper, Object... messages) {
    List<UUID> ids = idsOf(messages);
    List<UUID> came = new ArrayList<>();
    tck.await(
        what,
        () -> {
          expect("lost by those for whom the key is kept", deliver(keeper, LONG, came)).isEmpty();
          return came.size() >= ids.size() ? came : null;
        });
    assertCame(what, came).inOrder(ids);
  }

  /** A short lease may end before its settle where the machine is busy: then all comes again. */
  void serveOften(Keeper keeper, String order, Duration lease) {
    for (int i = 0; i < OFTEN; i++) {
      committed(order, 1);
      await(
          "a message of a key that is served often",
          () -> {
            List<UUID> came = new ArrayList<>();
            List<Long> lost = deliver(keeper, lease, came);
            return came.size() > lost.size() ? true : null;
          });
    }
  }

  // ---- C8

  @Rule("C8")
  @Sentence("a key that is kept and busy leaves no other behind")
  void busy() {
    Keeper keeper = keeperOfKey();
    OutboxMessage other = committed(message("other"));
    Claim.Request request = request(100, LONG);
    committed("k", 1);
    List<Claim> last = new ArrayList<>(List.of(claim(keeper, request)));
    await(
        "a message of another key, beside a key that always has one",
        () -> {
          committed("k", 1);
          Claim done = last.get(0);
          Claim next =
              done.messages().isEmpty()
                  ? claim(keeper, request)
                  : keeper.settleAndClaim(done, delivered(done), request).next();
          last.set(0, next);
          boolean came = ids(done).contains(other.id()) || ids(next).contains(other.id());
          return came ? true : null;
        });
  }

  @Rule("C8")
  @Sentence("of a key that is kept comes what is due again or was delayed, in its turn")
  void due() {
    Keeper keeper = keeperOfKey();
    List<OutboxMessage> failing = committed("k", 2);
    Claim claim = awaitClaim("a message", keeper, 1);
    settleAndGoOn(keeper, claim, all(claim, Decision.retry(soon(), "refused")));
    List<OutboxMessage> later = committed("k", 1);
    assertDelivered("a message that is due again, and those behind it", keeper, failing, later);
    OutboxMessage delayed = committed(message("k").deliverAfter(soon()));
    assertDelivered("a message that was delayed", keeper, delayed);
  }

  @Rule("C8")
  @Sentence("others have a key at once when the relay let go, or once a worker settles that has it")
  void letGo() {
    for (boolean busy : List.of(false, true)) {
      tck.prepare();
      Keeper keeper = keeperOfKey();
      if (busy) {
        committed("k", 1);
      }
      Claim claim = busy ? awaitClaim("a message", keeper, 100) : claim(keeper);
      keeper.close();
      expect("lost after the relay let go", settleAndGoOn(keeper, claim, delivered(claim)))
          .isEmpty();
      OutboxMessage message = committed(message("k"));
      assertCame("claimed by another", claim()).inOrder(message);
      keeper.close();
    }
  }

  @Rule("C8")
  @Sentence("others have a key of a relay whose workers do not claim")
  void unused() {
    Keeper keeper = keeper(soon());
    serveOften(keeper, "k", LONG);
    OutboxMessage message = committed(message("k"));
    List<UUID> came =
        await(
            "a key that no worker asked for during %s".formatted(Patience.seconds(soon())),
            () -> {
              keeper.giveBackUnused();
              List<UUID> ids = ids(claim());
              return ids.isEmpty() ? null : ids;
            });
    assertCame("claimed by another", came).inOrder(message);
  }

  @Rule("C8")
  @Sentence("others have a key of a relay that crashed, after the lease, and then they alone")
  void lost() {
    Keeper keeper = keeperThatStandsStill();
    List<OutboxMessage> messages = committed("k", 2);
    Claim other = awaitClaim("the end of the lease of a relay that crashed with a key kept");
    expect("the first that another claims", id(first(other))).isEqualTo(messages.get(0).id());
    assertCame("claimed by the one that had kept the key", claim(keeper)).isEmpty();
    expect("lost by the one that took over", settle(other, Decision.delivered())).isEmpty();
  }

  // ---- C9

  /** Appends and commits; that has not been said yet. */
  private Uncommitted append(Keeper keeper, OutboxMessage... messages) {
    return tck.commit(t -> keeping().append(keeper, t, List.of(messages)));
  }

  private void handOver(Keeper keeper, OutboxMessage... messages) {
    append(keeper, messages).committed();
  }

  private static OutboxMessage message() {
    return message("k").build();
  }

  @Sentence("what is handed over comes once, in order, as it was appended")
  void once() {
    Keeper keeper = keeperOfKey();
    for (int i = 0; i < 10; i++) {
      OutboxMessage first = message("k").header("n", "" + i).correlationId("c").build();
      OutboxMessage second = message();
      handOver(keeper, first, second);
      Claim claim = awaitClaim("what was handed over", keeper, 1);
      assertThat(first(claim).message()).isEqualTo(first);
      Set<Long> lost = settleAndGoOn(keeper, claim, delivered(claim));
      expect("lost by those to whom it was handed over", lost).isEmpty();
      assertDelivered("what was appended with it", keeper, second);
    }
    assertNothingIsLeft(keeper);
  }

  private void assertNothingIsLeft(Keeper keeper) {
    assertCame("due after all came", claim(keeper)).isEmpty();
    keeper.close();
    assertNothingDue("all was delivered");
  }

  @Sentence("what is rolled back does not come")
  void rolledBack() {
    Keeper keeper = keeperOfKey();
    tck.rollBack(t -> keeping().append(keeper, t, List.of(message())));
    assertNothingIsLeft(keeper);
  }

  @Sentence("what is handed over comes behind an older message of its key")
  void behindOlder() {
    Keeper keeper = keeperOfKey();
    OutboxMessage older = message();
    OutboxMessage message = message();
    commit(List.of(older));
    handOver(keeper, message);
    assertDelivered("both", keeper, older, message);
    assertNothingIsLeft(keeper);
  }

  @Sentence("what is handed over waits behind a message of its key that waits")
  void waits() {
    Keeper keeper = keeperOfKey();
    commit(List.of(message()));
    Claim claim = awaitClaim("a message", keeper, 100);
    settleAndGoOn(keeper, claim, all(claim, Decision.retry(LONG, "refused")));
    handOver(keeper, message());
    assertCame("due behind one that waits", claim(keeper)).isEmpty();
  }

  @Rule({"C9", "C10"})
  @Sentence("what expired comes as that, and what is behind it of its key comes next")
  void handOverExpired() {
    tck.fixture(ExpiresMessages.class);
    Keeper keeper = keeperOfKey();
    OutboxMessage next = message();
    handOver(keeper, message("k").expiresAt(ClaimTests.OVER).build());
    handOver(keeper, next);
    Claim claim = awaitClaim("what expired", keeper, 1);
    expect("expired", first(claim).expired()).isTrue();
    Set<Long> lost = settleAndGoOn(keeper, claim, all(claim, Decision.expired()));
    expect("lost by those for whom the key is kept", lost).isEmpty();
    assertDelivered("what was appended behind it", keeper, next);
    assertNothingIsLeft(keeper);
  }

  @Sentence("what was claimed before somebody said that it is committed does not come again")
  void late() {
    Keeper keeper = keeperOfKey();
    OutboxMessage message = message();
    Uncommitted slow = append(keeper, message);
    assertDelivered("the message", keeper, message);
    slow.committed();
    assertNothingIsLeft(keeper);
  }

  @Rule({"C9", "C8"})
  @Sentence("what another took over is not taken from it")
  void takeover() {
    Keeper keeper = keeperThatStandsStill();
    Uncommitted slow = append(keeper, message());
    Claim others = awaitClaim("the end of the lease of a relay that stood still");
    slow.committed();
    Claim late = claim(keeper);
    if (!late.messages().isEmpty()) {
      expect("lost by the one that had kept the key", settle(late, Decision.delivered()))
          .isEqualTo(Set.copyOf(sequences(late)));
    }
    expect("lost by the one that took over", settle(others, Decision.delivered())).isEmpty();
  }
}
