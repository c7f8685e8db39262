package dev.outbox.store.core.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.store.core.internal.Holding.SeenBucket;
import dev.outbox.store.core.internal.HoldingRules.Load;
import dev.outbox.store.core.internal.HoldingRules.Look;
import dev.outbox.store.core.internal.HoldingRules.Plan;
import dev.outbox.store.core.internal.HoldingRules.Relay;
import dev.outbox.store.core.internal.HoldingRules.State;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Single decisions; what comes of all of them together, {@link HoldingSimulationTest} shows. */
class HoldingRulesTest {
  private final List<Relay> relays = new ArrayList<>();
  private final List<SeenBucket> buckets = new ArrayList<>();

  private Relay holds(int many, State state, Load load) {
    Relay relay = new Relay(relays.size() + 1, state, load);
    relays.add(relay);
    see(many, relay.number());
    return relay;
  }

  private void see(int many, long holder) {
    for (int i = 0; i < many; i++) {
      buckets.add(new SeenBucket(buckets.size(), 1, holder));
    }
  }

  private Plan decide(Relay self) {
    Look look = new Look(buckets, relays);
    return HoldingRules.decide(look, self, new Vacancies().seen(look.vacant(), 0, 0));
  }

  private List<Relay> ready() {
    return relays.stream().filter(each -> decide(each).state() == State.READY).toList();
  }

  /** Its holder has handed out a single message, and takes it again. */
  @ParameterizedTest
  @EnumSource(names = {"WORKING", "BUSY"})
  void whatIsFreeForAMomentIsTakenAtOnceByWhoHoldsSomething(Load load) {
    see(1, SeenBucket.FREE);
    Relay self = holds(1, State.LIVES, load);
    holds(1, State.LIVES, load);
    assertThat(decide(self).take()).containsExactly(0);
  }

  @Test
  void inCalmTimesItIsLeftToWhoHasHandedItOut() {
    see(1, SeenBucket.FREE);
    holds(1, State.LIVES, Load.CALM);
    Relay self = holds(1, State.LIVES, Load.CALM);
    assertThat(decide(self).take()).isEmpty();
  }

  @Test
  void asManyGetReadyAsAreBusyThoseThatHaveLeast() {
    holds(20, State.LIVES, Load.BUSY);
    Relay some = holds(9, State.LIVES, Load.WORKING);
    Relay none = holds(0, State.LIVES, Load.WORKING);
    holds(9, State.LIVES, Load.WORKING);
    assertThat(ready()).containsExactly(none);
    holds(26, State.LIVES, Load.BUSY);
    assertThat(ready()).containsExactly(some, none);
  }

  @Test
  void whoIsCalmIsGivenMoreThanABusyOneHolds() {
    Relay busy = holds(20, State.LIVES, Load.BUSY);
    holds(14, State.LIVES, Load.WORKING);
    Relay calm = holds(30, State.LIVES, Load.CALM);
    assertThat(ready()).containsExactly(calm);
    relays.set(2, new Relay(calm.number(), State.READY, Load.CALM));
    assertThat(decide(busy).give()).hasSize(10);
  }

  @Test
  void whoIsBusyIsGivenNothing() {
    holds(62, State.LIVES, Load.BUSY);
    holds(2, State.LIVES, Load.BUSY);
    assertThat(ready()).isEmpty();
  }

  @Test
  void whoIsBusyTakesWhatOneHasThatStops() {
    holds(62, State.LEAVING, Load.BUSY);
    Relay busy = holds(2, State.LIVES, Load.BUSY);
    assertThat(ready()).containsExactly(busy);
  }

  /** Else the others would try for the same rows while it takes them. */
  @Test
  void whoIsReadyStaysSoUntilItHasWhatIsFree() {
    see(64, SeenBucket.FREE);
    Relay ready = holds(0, State.READY, Load.CALM);
    holds(0, State.LIVES, Load.CALM);
    assertThat(decide(ready).take()).hasSize(64);
    assertThat(ready()).containsExactly(ready);
  }
}
