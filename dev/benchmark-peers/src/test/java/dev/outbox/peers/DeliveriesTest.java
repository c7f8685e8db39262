package dev.outbox.peers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.peers.Deliveries.Outcome;
import dev.outbox.peers.Deliveries.Seen;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class DeliveriesTest {
  private static Seen seen(String key, int number, double at) {
    return new Seen(key, number, at);
  }

  private static final List<Seen> COMMITTED =
      List.of(seen("a", 0, 1), seen("a", 1, 2), seen("b", 0, 3), seen("a", 2, 4));

  @Test
  @DisplayName("what comes in order, each once, is neither out of order nor twice")
  void fine() {
    assertThat(
            Outcome.of(
                COMMITTED,
                List.of(seen("b", 0, 3.5), seen("a", 0, 4), seen("a", 1, 5), seen("a", 2, 5))))
        .isEqualTo(new Outcome(4, 4, 0, 0, 3));
  }

  @Test
  @DisplayName("only a first delivery can be out of order; what is missing is not delivered")
  void broken() {
    Outcome outcome =
        Outcome.of(
            COMMITTED,
            List.of(seen("a", 1, 3), seen("a", 0, 9), seen("a", 0, 20), seen("a", 2, 5)));
    assertThat(outcome).isEqualTo(new Outcome(4, 3, 1, 1, 8));
    assertThat(outcome.isWhole()).isFalse();
  }
}
