package dev.outbox.tck.store;

import static dev.outbox.tck.internal.Decisions.all;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore;
import dev.outbox.spi.store.KeepingStore.Keeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** What tests of keys that are kept say. */
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

  /** Delivers what is due, in claims that follow each other. */
  List<UUID> deliver(Claim.Source source, Duration lease) {
    List<UUID> came = new ArrayList<>();
    expect("lost by those for whom the key is kept", deliver(source, lease, came)).isEmpty();
    return came;
  }

  /** The same; returns what was lost, each time. */
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

  /** Waits until a claim of the keeper brings something. */
  Claim awaitClaim(String what, Keeper keeper, int most) {
    return tck.await(what, () -> nonEmpty(claim(keeper, request(most, LONG))));
  }

  /** Settles, gives back what is claimed with that, and says what was lost. */
  Set<Long> settleAndGoOn(Keeper keeper, Claim done, Map<Long, Decision> decisions) {
    Settled settled = keeper.settleAndClaim(done, decisions, request(100, LONG));
    release(settled.next());
    return settled.lost();
  }

  /** Delivers until so many have come. */
  List<UUID> awaitDelivered(String what, Keeper keeper, int count) {
    List<UUID> came = new ArrayList<>();
    return tck.await(
        what,
        () -> {
          came.addAll(deliver(keeper, LONG));
          return came.size() >= count ? came : null;
        });
  }

  /** Delivers until these have come, in this order. */
  void assertDelivered(String what, Keeper keeper, List<UUID> ids) {
    assertCame(what, awaitDelivered(what, keeper, ids.size())).inOrder(ids);
  }

  /** A short lease may end before its settle where the machine is busy: then all comes again. */
  void serveOften(Keeper keeper, String order, Duration lease) {
    for (int i = 0; i < OFTEN; i++) {
      committed(order, 1);
      boolean ignored =
          await(
              "a message of a key that is served often",
              () -> {
                List<UUID> came = new ArrayList<>();
                List<Long> lost = deliver(keeper, lease, came);
                return came.size() > lost.size() ? true : null;
              });
    }
  }
}
