package dev.outbox.dev.torture;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** The faults of a run, which follow from its seed; what they meet does not. */
final class Plan {
  private final Random random;
  private final double perMinute;
  private final List<Fault.Kind> kinds;
  private final int weight;
  private int number;

  Plan(long seed, double perMinute) {
    random = new Random(seed);
    this.perMinute = perMinute;
    kinds = Arrays.asList(Fault.Kind.values());
    weight = kinds.stream().mapToInt(kind -> kind.weight).sum();
  }

  /** Never the last: a run ends when its time is over. */
  Fault next() {
    // As of a Poisson process: now and then several come at once.
    double minutes = -Math.log(1 - random.nextDouble()) / perMinute;
    Duration after = Duration.ofNanos((long) (minutes * Duration.ofMinutes(1).toNanos()));
    int dice = random.nextInt(weight);
    Fault.Kind kind = kinds.get(0);
    for (Fault.Kind candidate : kinds) {
      kind = candidate;
      dice -= candidate.weight;
      if (dice < 0) {
        break;
      }
    }
    double which = random.nextDouble();
    // Short ones more often than long ones.
    double part = random.nextDouble() * random.nextDouble();
    long millis = kind.shortest + (long) (part * (kind.longest - kind.shortest));
    return new Fault(++number, after, kind, which, Duration.ofMillis(millis));
  }
}
