package dev.outbox.tck.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Sentence;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/** One run of a {@link Workload}, and what its oracle says by rule. */
@Tag("slow")
@TestInstance(Lifecycle.PER_CLASS) // its tests ask about one run
abstract class ConcurrencyTests<T> extends StoreTests<T> {
  private @Nullable Workload<T> done;
  private final long seed = loadSeed();

  private void assertKept(String rule) {
    Workload<T> workload = done;
    if (workload == null) {
      workload = new Workload<>(tck, seed, null);
      done = workload;
      workload.run();
    }
    assertThat(workload.oracle.violations(rule))
        .as("violations of %s; the same load again with -Doutbox.tck.seed=%s", rule, seed)
        .isEmpty();
  }

  @Rule("A1")
  @Sentence("nothing is claimed that was not committed")
  void nothingLeaked() {
    assertKept("A1");
  }

  @Rule("A4")
  @Sentence("every duplicate is named as one")
  void duplicates() {
    assertKept("A4");
  }

  @Rule("C1")
  @Sentence("no key is in two live claims")
  void twoLiveClaims() {
    assertKept("C1");
  }

  @Rule("C2")
  @Sentence("messages of a key come in order within each claim")
  void orderInClaims() {
    assertKept("C2");
  }

  @Rule("C3")
  @Sentence("every operation returns")
  void returns() {
    assertKept("C3");
  }

  @Rule("S2")
  @Sentence("nothing is claimed after it was settled as delivered or dead")
  void goneIsGone() {
    assertKept("S2");
  }

  @Rule("S4")
  @Sentence("nothing that was committed is lost, and no operation fails")
  void nothingLost() {
    assertKept("S4");
  }

  @Rule("O1")
  @Sentence("first deliveries of a key happen in order")
  void order() {
    assertKept("O1");
  }
}
