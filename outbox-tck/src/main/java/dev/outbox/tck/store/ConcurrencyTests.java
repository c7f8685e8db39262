package dev.outbox.tck.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.store.KeepingStore;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Sentence;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;

/** A {@link Workload}, and what its oracle says by rule. */
@Tag("slow")
abstract class ConcurrencyTests<T> extends StoreTests<T> {
  @Rule({"A1", "A4", "C1", "C2", "C3", "C8", "C9", "S2", "S4", "O1"})
  @Sentence("they hold under load, also where keys are kept and messages are handed over")
  @SuppressWarnings("unchecked")
  void underLoad() {
    long seed = loadSeed();
    KeepingStore<T> keeping =
        store() instanceof KeepingStore<?> store ? (KeepingStore<T>) store : null;
    Workload<T> workload = new Workload<>(tck, seed, keeping);
    workload.run();
    assertThat(
            Stream.of("A1", "A4", "C1", "C2", "C3", "S2", "S4", "O1")
                .flatMap(rule -> workload.oracle.violations(rule).stream().map(of(rule))))
        .as("violations; the same load again with -Doutbox.tck.seed=%s", seed)
        .isEmpty();
  }

  private static UnaryOperator<String> of(String rule) {
    return violation -> rule + ": " + violation;
  }
}
