package dev.outbox.dev.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.dev.torture.Fault.Plan;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The plan")
class PlanTest {
  private static List<Fault> faults(long seed, int count) {
    Plan plan = new Plan(seed, 60);
    return Stream.generate(plan::next).limit(count).toList();
  }

  @Test
  @DisplayName("is the same for the same seed, and another for another")
  void seed() {
    assertThat(faults(7, 50)).isEqualTo(faults(7, 50)).isNotEqualTo(faults(8, 50));
  }

  @Test
  @DisplayName("has every kind of fault, of the length that it may have, as often as was asked")
  void kinds() {
    List<Fault> faults = faults(1, 2_000);
    Set<Fault.Kind> kinds = EnumSet.noneOf(Fault.Kind.class);
    Duration all = Duration.ZERO;
    for (Fault fault : faults) {
      kinds.add(fault.kind());
      all = all.plus(fault.after());
      assertThat(fault.length().toMillis())
          .isBetween((long) fault.kind().shortest, (long) fault.kind().longest);
      assertThat(fault.which()).isBetween(0.0, 1.0);
    }
    assertThat(kinds).isEqualTo(EnumSet.allOf(Fault.Kind.class));
    assertThat(all.toSeconds()).isBetween(1_800L, 2_200L);
  }
}
