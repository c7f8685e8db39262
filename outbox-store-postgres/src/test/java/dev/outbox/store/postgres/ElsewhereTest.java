package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.store.postgres.Elsewhere.Seen;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Buckets that nobody holds")
class ElsewhereTest {
  private static final long PATIENCE = Duration.ofMillis(Elsewhere.PATIENCE_MILLIS).toNanos();

  private final AtomicLong clock = new AtomicLong();
  private final Elsewhere elsewhere = new Elsewhere(clock::get);

  /** A look that finds no transaction running but those with these ids or higher ones. */
  private boolean mayHaveMessagesWhileOpen(long next, long running, Long... sequences) {
    return elsewhere.mayHaveMessages(new Seen("primary", next, running, 100), List.of(sequences));
  }

  private boolean mayHaveMessages(long next, Long... sequences) {
    return mayHaveMessagesWhileOpen(next, 100, sequences);
  }

  private void begin() {
    assertThat(mayHaveMessages(1)).as("nothing is known").isTrue();
    elsewhere.nothing("primary", elsewhere.over());
    assertThat(mayHaveMessages(1)).isFalse();
  }

  @Test
  @DisplayName("have none while each sequence that was drawn is one of a message that was read")
  void allRead() {
    begin();
    assertThat(mayHaveMessages(3, 2L, 1L)).isFalse();
    assertThat(mayHaveMessages(4)).as("3 may be that of an open transaction").isFalse();
    assertThat(mayHaveMessages(4, 3L)).isFalse();
    assertThat(mayHaveMessages(5)).isFalse();
    assertThat(mayHaveMessages(5)).as("4 is not open, and was not read").isTrue();
  }

  @Test
  @DisplayName("have none while what is missing is open, for a moment")
  void open() {
    begin();
    for (int i = 0; i < 3; i++) {
      assertThat(mayHaveMessagesWhileOpen(2, 50)).isFalse();
    }
    clock.addAndGet(PATIENCE - 1);
    assertThat(mayHaveMessagesWhileOpen(2, 50)).isFalse();
    clock.addAndGet(1);
    assertThat(mayHaveMessagesWhileOpen(2, 50)).as("others may be hidden behind it").isTrue();
    elsewhere.nothing("primary", elsewhere.over());
    assertThat(mayHaveMessagesWhileOpen(2, 50)).as("it is still open").isTrue();
    assertThat(mayHaveMessagesWhileOpen(2, 50, 1L)).as("it was read").isFalse();
  }

  @Test
  @DisplayName("may have what was rolled back, until a lease finds nothing")
  void rolledBack() {
    begin();
    assertThat(mayHaveMessages(4, 1L, 3L)).isFalse();
    assertThat(mayHaveMessages(4)).as("2 was rolled back").isTrue();
    elsewhere.nothing("primary", 2);
    assertThat(mayHaveMessages(4)).as("2 was not certified for that lease").isTrue();
    elsewhere.nothing("primary", elsewhere.over());
    assertThat(mayHaveMessages(4)).isFalse();
  }

  @Test
  @DisplayName("may have anything when the history is another, or the sequence was set back")
  void otherHistory() {
    begin();
    assertThat(mayHaveMessages(10, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L)).isFalse();
    Seen promoted = new Seen("new primary", 10, 1, 100);
    assertThat(elsewhere.mayHaveMessages(promoted, List.of())).isTrue();
    elsewhere.nothing("primary", 10);
    assertThat(elsewhere.mayHaveMessages(promoted, List.of())).isTrue();
    elsewhere.nothing("new primary", elsewhere.over());
    assertThat(elsewhere.mayHaveMessages(promoted, List.of())).isFalse();
    Seen setBack = new Seen("new primary", 9, 1, 100);
    assertThat(elsewhere.mayHaveMessages(setBack, List.of())).isTrue();
  }

  /** Against sets that remember all: transactions of any length, reads in any order. */
  @Property
  void saysWhatIsMissing(@ForAll long seed) {
    Random random = new Random(seed);
    AtomicLong time = new AtomicLong(random.nextLong());
    Elsewhere asked = new Elsewhere(time::get);
    Map<Long, List<Long>> open = new HashMap<>();
    Map<Long, Long> drawnAt = new HashMap<>();
    Set<Long> committed = new HashSet<>();
    Set<Long> rolledBack = new HashSet<>();
    long id = 1;
    long next = 1;
    boolean first = asked.mayHaveMessages(new Seen("primary", next, id, id), List.of());
    asked.nothing("primary", asked.over());
    assertThat(first).isTrue();
    for (int step = 0; step < 200; step++) {
      time.addAndGet(random.nextInt((int) PATIENCE / 4));
      for (int i = random.nextInt(3); i > 0; i--) {
        drawnAt.put(next, time.get());
        open.put(id++, List.of(next++));
      }
      for (Long over : List.copyOf(open.keySet())) {
        if (random.nextInt(4) == 0) {
          (random.nextInt(5) == 0 ? rolledBack : committed).addAll(open.remove(over));
        }
      }
      List<Long> read = committed.stream().filter(sequence -> random.nextInt(3) > 0).toList();
      committed.removeAll(read);
      Set<Long> over = new HashSet<>(committed);
      over.addAll(rolledBack);
      List<Long> missing = new ArrayList<>(over);
      open.values().forEach(missing::addAll);
      long horizon = open.keySet().stream().mapToLong(Long::longValue).min().orElse(id);
      boolean answer = asked.mayHaveMessages(new Seen("primary", next, horizon, id), read);
      String what = "step %d, over %s, open %s".formatted(step, over, open);
      long oldest = missing.stream().mapToLong(drawnAt::get).min().orElse(Long.MAX_VALUE);
      if (missing.isEmpty()) {
        assertThat(answer).as(what).isFalse();
      } else if (over.isEmpty() && time.get() - oldest < PATIENCE) {
        assertThat(answer).as("all are open, %s", what).isFalse();
      }
      boolean again = asked.mayHaveMessages(new Seen("primary", next, horizon, id), List.of());
      if (!missing.isEmpty() && open.isEmpty()) {
        assertThat(again).as("none is open, %s", what).isTrue();
      }
      if (again && random.nextBoolean()) {
        long below = asked.over();
        asked.nothing("primary", below);
        rolledBack.removeIf(sequence -> sequence < below);
        committed.removeIf(sequence -> sequence < below); // others had them
        assertThat(open.values().stream().allMatch(each -> each.get(0) >= below))
            .as("none of an open transaction is explained, %s", what)
            .isTrue();
      }
    }
  }
}
