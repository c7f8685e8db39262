package dev.outbox.store.core.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.store.core.internal.HoldingSimulation.Cause;
import dev.outbox.store.core.internal.HoldingSimulation.Process;
import dev.outbox.store.core.internal.HoldingSimulation.Standstill;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The goals of docs/design/holding.md, in simulated seconds. {@code -Doutbox.holding.seed=7} plays
 * one seed again.
 */
class HoldingSimulationTest {
  private static final long SEED =
      Long.getLong("outbox.holding.seed", ThreadLocalRandom.current().nextLong(1_000_000));

  private final HoldingSimulation simulation = new HoldingSimulation(SEED);
  private final Random random = new Random(SEED);

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8, 20, 200})
  void inCalmTimesOneHoldsAllAndNothingMoves(int relays) {
    HoldingSimulation fleet = new HoldingSimulation(SEED);
    fleet.start(relays);
    fleet.run(seconds(30));
    assertThat(fleet.holding()).as("seed %d", SEED).hasSize(1);
    assertThat(fleet.holding().get(0).held()).as("seed %d", SEED).isEqualTo(64);

    long moves = fleet.moves();
    long looks = fleet.looks();
    fleet.run(seconds(60));

    assertThat(fleet.moves()).as("seed %d", SEED).isEqualTo(moves);
    assertThat(fleet.looks() - looks)
        .as("looks of a minute, seed %d", SEED)
        .isLessThan(60L * 3 * 11 / 10 + relays * 30L * 11 / 10);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 8, 20})
  void whoStopsInGoodOrderHandsOver(int relays) {
    HoldingSimulation fleet = new HoldingSimulation(SEED);
    fleet.start(relays);
    fleet.run(seconds(10));
    long inVain = fleet.inVain();
    for (int i = 0; i < relays + 5; i++) { // a rolling deployment and more
      fleet.start(1);
      fleet.run(seconds(3));
      fleet.stop(fleet.living().get(0));
      fleet.run(seconds(5));
    }
    assertThat(fleet.living()).as("seed %d", SEED).hasSize(relays);
    assertThat(fleet.inVain()).as("for whom it was not, seed %d", SEED).isEqualTo(inVain);
    assertThat(fleet.standstills(Cause.STOPPED)).isNotEmpty();
    report("stopped, of " + relays, fleet.standstills(Cause.STOPPED), 200, 200);
    assertThat(fleet.standstills(Cause.GIVEN)).as("seed %d", SEED).allMatch(s -> s.millis() <= 200);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 8, 20})
  void whoIsKilledLeavesAShortStandstill(int relays) {
    List<Standstill> all = new ArrayList<>();
    for (int i = 0; i < 400 / relays; i++) {
      HoldingSimulation fleet = new HoldingSimulation(SEED + i);
      fleet.start(relays);
      fleet.run(Duration.ofMillis(20_000 + random.nextInt(2_000)));
      fleet.kill(fleet.holding().get(0));
      fleet.run(seconds(10));
      all.addAll(fleet.standstills(Cause.KILLED));
    }
    report("killed, of " + relays, all, 1_000, 2_500);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 8, 20})
  void whoIsBusyGivesAway(int relays) {
    HoldingSimulation fleet = new HoldingSimulation(SEED);
    fleet.start(relays);
    fleet.run(seconds(20));
    long inVain = fleet.inVain();
    fleet.rate(2 * 5_000 * 0.9);
    fleet.run(seconds(30));
    assertThat(fleet.holding())
        .as("two are enough, seed %d", SEED)
        .hasSize(2)
        .allMatch(p -> p.held() <= 35);
    assertThat(fleet.inVain()).as("as many get ready as are busy, seed %d", SEED).isEqualTo(inVain);

    fleet.rate(1_000_000);
    fleet.run(seconds(12));
    assertThat(fleet.holding())
        .as("who has got some gives of it, too, seed %d", SEED)
        .hasSize(Math.min(relays, 64));
    fleet.run(seconds(48));
    long moves = fleet.moves();
    fleet.run(seconds(60));
    assertThat(fleet.moves()).as("seed %d", SEED).isEqualTo(moves);

    fleet.rate(100);
    fleet.run(seconds(40));
    assertThat(fleet.holding()).as("seed %d", SEED).hasSize(1);
    assertThat(fleet.holding().get(0).held()).as("seed %d", SEED).isEqualTo(64);
    report("given, of " + relays, fleet.standstills(Cause.GIVEN), 100, 1_700);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 8})
  void whoIsSlowKeepsNothingThatItCannotDeliver(int relays) {
    Process slow = simulation.start(1).get(0);
    slow.canDeliver(50);
    simulation.start(relays - 1);
    simulation.run(seconds(20));
    simulation.rate(300);
    simulation.run(seconds(60));
    assertThat(slow.held()).as("seed %d", SEED).isZero();
    long moves = simulation.moves();
    simulation.run(seconds(60));
    assertThat(simulation.moves()).as("seed %d", SEED).isEqualTo(moves);
  }

  @Test
  void whatABusyOneLeavesBehindTheOthersShare() {
    simulation.start(8);
    simulation.rate(1_000_000);
    simulation.run(seconds(60));
    assertThat(simulation.holding()).as("seed %d", SEED).hasSize(8);
    simulation.kill(simulation.holding().get(0));
    Map<Process, Integer> before = new HashMap<>();
    simulation.holding().forEach(p -> before.put(p, p.held()));
    simulation.run(seconds(5));
    assertThat(simulation.holding())
        .as("seed %d", SEED)
        .hasSize(7)
        .allMatch(p -> p.held() <= Math.max(10, before.get(p)));
  }

  @Test
  void aSessionThatEndsWhileItsRelayLivesMovesNothing() {
    simulation.start(8);
    simulation.run(seconds(20));
    long moves = simulation.moves();
    for (int i = 0; i < 50; i++) {
      simulation.endSession(simulation.holding().get(0));
      simulation.run(seconds(5));
    }
    assertThat(simulation.holding()).as("seed %d", SEED).hasSize(1);
    assertThat(simulation.moves()).as("seed %d", SEED).isEqualTo(moves);
  }

  @Test
  void afterAFailoverNobodyCountsAsGone() {
    simulation.start(20);
    simulation.rate(200_000);
    simulation.run(seconds(60));
    long moves = simulation.moves();
    simulation.failOver();
    simulation.run(seconds(4));
    assertThat(simulation.moves()).as("seed %d", SEED).isEqualTo(moves);
  }

  @Test
  void whoStandsStillIsWaitedForUntilItsLeaseEnds() {
    simulation.start(4);
    simulation.run(seconds(20));
    simulation.standStill(simulation.holding().get(0), seconds(300));
    simulation.run(seconds(60));
    report("stood still", simulation.standstills(Cause.STOOD_STILL), 33_000, 33_000);
  }

  @Test
  void whoStandsStillWhenItIsReadyIsWaitedForSomeSeconds() {
    simulation.start(8);
    simulation.run(seconds(20));
    simulation.stop(simulation.holding().get(0));
    while (simulation.living().stream().noneMatch(Process::isReady)) {
      simulation.run(Duration.ofMillis(1));
    }
    simulation.living().stream()
        .filter(Process::isReady)
        .forEach(ready -> simulation.standStill(ready, seconds(300)));
    simulation.run(seconds(20));
    assertThat(simulation.holding()).as("seed %d", SEED).isNotEmpty();
    report(
        "stopped, and the next stood still", simulation.standstills(Cause.STOPPED), 6_000, 6_000);
  }

  @Test
  void twoHundredRelaysThatComeAndGo() {
    simulation.start(200);
    simulation.run(seconds(10));
    for (int second = 0; second < 200; second++) {
      List<Process> living = simulation.living();
      Process any = living.get(random.nextInt(living.size()));
      switch (random.nextInt(12)) {
        case 0 -> simulation.kill(any);
        case 1 -> simulation.holding().stream().findFirst().ifPresent(simulation::kill);
        case 2 -> simulation.stop(any);
        case 3 -> simulation.start(1 + random.nextInt(3));
        case 4 -> simulation.standStill(any, Duration.ofMillis(random.nextInt(5_000)));
        case 5 -> simulation.endSession(any);
        case 6 -> simulation.rate(random.nextInt(4) == 0 ? 2_000_000 : 100);
        default -> {}
      }
      if (simulation.living().size() < 150) {
        simulation.start(20);
      }
      simulation.run(seconds(1));
    }
    // One that is ready for what a killed one had may stand still: it is waited for, for some
    // seconds.
    report("killed, of 200", simulation.standstills(Cause.KILLED), 1_000, 6_000);
    simulation.rate(0);
    simulation.run(seconds(60));
    assertThat(simulation.holding()).as("seed %d", SEED).hasSize(1);
    assertThat(simulation.holding().get(0).held()).as("seed %d", SEED).isEqualTo(64);
  }

  private void report(String what, List<Standstill> standstills, long median, long max) {
    long[] millis = standstills.stream().mapToLong(Standstill::millis).sorted().toArray();
    assertThat(millis).as("%s, seed %d", what, SEED).isNotEmpty();
    long half = millis[millis.length / 2];
    long most = millis[millis.length - 1];
    System.out.printf(
        "%s: %d buckets stood still, p50 %d ms, max %d ms (seed %d)%n",
        what, millis.length, half, most, SEED);
    assertThat(half).as("median, %s, seed %d", what, SEED).isLessThanOrEqualTo(median);
    assertThat(most).as("longest, %s, seed %d", what, SEED).isLessThanOrEqualTo(max);
  }

  private static Duration seconds(int seconds) {
    return Duration.ofSeconds(seconds);
  }
}
