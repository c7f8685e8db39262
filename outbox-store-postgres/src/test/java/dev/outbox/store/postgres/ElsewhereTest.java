package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Buckets that nobody holds")
class ElsewhereTest {
  private final Elsewhere elsewhere = new Elsewhere();

  private boolean mayHaveMessages(long next, Long... sequences) {
    return elsewhere.mayHaveMessages("primary", next, List.of(sequences));
  }

  @Test
  @DisplayName("have none while each sequence that was drawn is one of a message that was read")
  void allRead() {
    elsewhere.mayHaveMessages("primary", 1, List.of());
    elsewhere.nothing("primary", 1);
    assertThat(mayHaveMessages(1)).isFalse();
    assertThat(mayHaveMessages(3, 2L, 1L)).isFalse();
    assertThat(mayHaveMessages(4)).as("3 was drawn and not read").isTrue();
    assertThat(mayHaveMessages(4, 3L)).isFalse();
  }

  @Test
  @DisplayName("may have what was committed late, until a lease finds nothing below")
  void late() {
    mayHaveMessages(1);
    elsewhere.nothing("primary", 1);
    assertThat(mayHaveMessages(4, 1L, 3L)).as("2 is open, or was rolled back").isTrue();
    elsewhere.nothing("primary", 2);
    assertThat(mayHaveMessages(4)).as("2 is not certified yet").isTrue();
    elsewhere.nothing("primary", 4);
    assertThat(mayHaveMessages(4)).isFalse();
  }

  @Test
  @DisplayName("may have anything when the history is another, or the sequence was set back")
  void otherHistory() {
    mayHaveMessages(10);
    elsewhere.nothing("primary", 10);
    assertThat(elsewhere.mayHaveMessages("new primary", 10, List.of())).isTrue();
    elsewhere.nothing("primary", 10);
    assertThat(elsewhere.mayHaveMessages("new primary", 10, List.of())).isTrue();
    elsewhere.nothing("new primary", 10);
    assertThat(elsewhere.mayHaveMessages("new primary", 10, List.of())).isFalse();
    assertThat(elsewhere.mayHaveMessages("new primary", 9, List.of())).isTrue();
  }

  /** Against sets that remember all: draws, reads in any order, leases that find nothing. */
  @Property
  void saysNoOnlyWhenAllIsExplained(@ForAll long seed) {
    Random random = new Random(seed);
    Elsewhere asked = new Elsewhere();
    Set<Long> missing = new HashSet<>();
    Set<Long> unread = new HashSet<>();
    long next = 1;
    asked.mayHaveMessages("primary", next, List.of());
    asked.nothing("primary", next);
    for (int step = 0; step < 200; step++) {
      for (int i = random.nextInt(3); i > 0; i--) {
        (random.nextInt(4) == 0 ? missing : unread).add(next++);
      }
      if (random.nextInt(10) == 0) {
        long certified = 1 + (long) (random.nextDouble() * next);
        long below = certified;
        missing.removeIf(sequence -> sequence < below);
        unread.removeIf(sequence -> sequence < below); // others had them
        asked.nothing("primary", certified);
      }
      List<Long> read = unread.stream().filter(sequence -> random.nextBoolean()).toList();
      unread.removeAll(read);
      assertThat(asked.mayHaveMessages("primary", next, read))
          .as("step %d, missing %s, unread %s", step, missing, unread)
          .isEqualTo(!missing.isEmpty() || !unread.isEmpty());
    }
  }
}
