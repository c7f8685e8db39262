package dev.outbox.tck.store;

import static dev.outbox.tck.internal.Decisions.all;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Patience;
import dev.outbox.tck.internal.Sentence;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;

/** C8. A store may keep a key or not: what is said of what is kept holds for what is not, too. */
@Rule("C8")
abstract class KeepingTests<T> extends KeeperTests<T> {

  @Sentence("those for whom a key is kept find what nobody holds")
  void others() {
    Keeper keeper = keeperOfKey();
    List<OutboxMessage> messages = committed(20, i -> "other " + i);
    assertCame("delivered", awaitDelivered("messages of other keys", keeper, messages.size()))
        .inAnyOrder(messages);
  }

  @Sentence("a key that is kept and busy leaves no other behind")
  void busy() {
    Keeper keeper = keeperOfKey();
    OutboxMessage other = committed(message("other"));
    Claim.Request request = request(100, LONG);
    committed("k", 1);
    List<Claim> last = new ArrayList<>(List.of(claim(keeper, request)));
    boolean ignored =
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

  @Sentence("of a key that is kept comes what is due again or was delayed, in its turn")
  void due() {
    Keeper keeper = keeperOfKey();
    List<OutboxMessage> failing = committed("k", 2);
    Claim claim = awaitClaim("a message", keeper, 1);
    settleAndGoOn(keeper, claim, all(claim, Decision.retry(soon(), "refused")));
    List<OutboxMessage> later = committed("k", 1);
    assertDelivered(
        "a message that is due again, and those behind it",
        keeper,
        Stream.concat(idsOf(failing).stream(), idsOf(later).stream()).toList());
    OutboxMessage delayed = committed(message("k").deliverAfter(soon()));
    assertDelivered("a message that was delayed", keeper, List.of(delayed.id()));
  }

  @Sentence("of a key that is kept comes at once what was given back without a decision")
  void undecided() {
    Keeper keeper = keeperOfKey();
    List<UUID> ids = idsOf(committed("k", 2));
    settleAndGoOn(keeper, awaitClaim("two messages", keeper, 100), Map.of());
    assertDelivered("what was given back", keeper, ids);
  }

  @Sentence("others have a key at once when the relay let go of what it keeps")
  void letGo() {
    Keeper keeper = keeperOfKey();
    keeper.close();
    OutboxMessage message = committed(message("k"));
    assertCame("claimed by another", claim()).inOrder(message);
    keeper.close();
  }

  @Sentence("nothing is kept after the relay let go: what a worker still had is free when settled")
  void letGoBefore() {
    Keeper keeper = keeperOfKey();
    committed("k", 1);
    Claim claim = awaitClaim("a message", keeper, 100);
    keeper.close();
    expect("lost after the relay let go", settleAndGoOn(keeper, claim, delivered(claim))).isEmpty();
    OutboxMessage message = committed(message("k"));
    assertCame("claimed by another", claim()).inOrder(message);
  }

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

  @Sentence("others have a key of a relay that crashed, after the lease, and then they alone")
  void lost() {
    Keeper keeper = keeperThatStandsStill();
    List<OutboxMessage> messages = committed("k", 2);
    Claim other = awaitClaim("the end of the lease of a relay that crashed with a key kept");
    expect("the first that another claims", id(first(other))).isEqualTo(messages.get(0).id());
    assertCame("claimed by the one that had kept the key", claim(keeper, request(100, LONG)))
        .isEmpty();
    expect("lost by the one that took over", settle(other, Decision.delivered())).isEmpty();
  }
}
