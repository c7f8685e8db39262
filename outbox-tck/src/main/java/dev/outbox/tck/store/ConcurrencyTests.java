package dev.outbox.tck.store;

import dev.outbox.spi.store.KeepingStore;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Sentence;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;

/** A {@link Workload}, and what its oracle says by rule. */
@Tag("slow")
abstract class ConcurrencyTests<T> extends StoreTests<T> {
  private static final int MOST_OF_A_RULE = 3;

  @Rule({"A1", "A4", "C1", "C2", "C3", "C8", "C9", "S2", "S4", "O1"})
  @Sentence("they hold under load, also where keys are kept and messages are handed over")
  @SuppressWarnings("unchecked")
  void underLoad() {
    long seed = loadSeed();
    KeepingStore<T> keeping =
        store() instanceof KeepingStore<?> store ? (KeepingStore<T>) store : null;
    Workload<T> workload = new Workload<>(tck, seed, keeping);
    workload.run();
    List<String> broken =
        Stream.of("A1", "A4", "C1", "C2", "C3", "S2", "S4", "O1")
            .filter(rule -> !workload.oracle.violations(rule).isEmpty())
            .toList();
    List<String> rules = new ArrayList<>(broken);
    if (keeping != null) {
      rules.addAll(List.of("C8", "C9")); // half of the load is theirs
    }
    check(
        broken.isEmpty(),
        "%s: %s; the same load again with -Doutbox.tck.seed=%s",
        String.join(", ", rules),
        broken.stream()
            .flatMap(rule -> workload.oracle.violations(rule).stream().limit(MOST_OF_A_RULE))
            .collect(Collectors.joining("; ")),
        seed);
  }
}
