package dev.outbox.store.core.internal;

import static dev.outbox.store.core.internal.ClaimsTest.FOUR;
import static dev.outbox.store.core.internal.ClaimsTest.delivered;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.Decision;
import dev.outbox.store.core.internal.FakeDatabase.Trouble;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Label;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

@Label("Claims, whatever befalls their transactions,")
class ClaimsPropertyTest {

  @Property(tries = 2_000)
  @Label("close each claim's once, use none that is closed, lease first, and leave nothing behind")
  void closeOnce(
      @ForAll boolean leasesApart,
      @ForAll @Size(max = 60) List<@IntRange(max = 9) Integer> steps,
      @ForAll Random random) {
    World world = new World(new FakeDatabase(leasesApart), random);
    steps.forEach(world::step);
    world.finish();
    assertThat(world.database.misuse).isEmpty();
    assertThat(world.database.closed()).as("how often each was closed").containsOnly(1);
    assertThat(world.database.left()).as("messages left").isEmpty();
    assertThat(world.database.held()).as("buckets held").isEmpty();
  }

  /** Some workers' claims. */
  private static final class World {
    private final FakeDatabase database;
    private final FakeStore store;
    private final Random random;
    private final List<Claim> open = new ArrayList<>();
    private long sequence;

    World(FakeDatabase database, Random random) {
      this.database = database;
      this.random = random;
      store = new FakeStore(database);
    }

    void step(int step) {
      switch (step) {
        case 0, 1, 2 -> add();
        case 3 -> trouble();
        case 4 -> database.leasesRunOut();
        case 5, 6 -> attempt(() -> claimed(store.claim(FOUR)));
        case 7 -> attempt(this::settle);
        default -> attempt(this::settleAndClaim);
      }
    }

    private void add() {
      int bucket = random.nextInt(6);
      for (int i = random.nextInt(8); i >= 0; i--) {
        database.add(bucket, ++sequence, random.nextInt(3) == 0);
      }
    }

    /** A claim is several transactions, so the trouble may come to any of them. */
    private void trouble() {
      for (int i = random.nextInt(3); i > 0; i--) {
        database.troubles.add(Trouble.NONE);
      }
      Trouble[] all = Trouble.values();
      database.troubles.add(all[random.nextInt(all.length)]);
    }

    private static void attempt(Runnable operation) {
      try {
        operation.run();
      } catch (TransientOutboxException ignored) {
        // The claim stays open, as a relay would have it.
      }
    }

    private void claimed(Claim claim) {
      if (!claim.messages().isEmpty()) {
        open.add(claim);
      } else {
        Set<Long> ignored = claim.settle(Map.of());
      }
    }

    private void settle() {
      if (!open.isEmpty()) {
        Claim done = open.get(random.nextInt(open.size()));
        Set<Long> ignored = done.settle(decisions(done));
        ignored = done.settle(delivered(done)); // on transactions that are not closed again
        open.remove(done);
      }
    }

    private void settleAndClaim() {
      if (!open.isEmpty()) {
        Claim done = open.get(random.nextInt(open.size()));
        Settled settled = store.settleAndClaim(done, decisions(done), FOUR);
        open.remove(done);
        claimed(settled.next());
      }
    }

    /** Not for every message. */
    private Map<Long, Decision> decisions(Claim claim) {
      Map<Long, Decision> decisions = delivered(claim);
      decisions.keySet().removeIf(s -> random.nextInt(8) == 0);
      return decisions;
    }

    /** All is well again, and one worker delivers what is left. */
    void finish() {
      database.troubles.clear();
      open.forEach(claim -> claim.settle(delivered(claim)));
      database.leasesRunOut();
      Claim claim = store.claim(FOUR);
      while (!claim.messages().isEmpty() || claim.pollAgain()) {
        claim =
            claim.messages().isEmpty()
                ? store.claim(FOUR)
                : store.settleAndClaim(claim, delivered(claim), FOUR).next();
      }
    }
  }
}
