package dev.outbox.store.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.core.internal.Row;
import dev.outbox.store.core.internal.Row.ToMove;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The reads and producers of one bucket, step by step in random order. */
@DisplayName("Two reads that skip what is locked")
class TwoReadsTest {
  private static final long SEED = Long.getLong("outbox.seed", System.nanoTime());
  private static final int RUNS = 20_000;
  private static final int MOST = 4;
  private static final List<String> KEYS = List.of("a", "b", "c");

  /** The order in which a read visits rows; a plan may have any. */
  private enum Visits {
    UPWARDS,
    DOWNWARDS,
    ANYHOW
  }

  /** Producers, of which each has the keys that it writes to itself until it commits (O5). */
  private static final class Bucket {
    private final Random random;
    private final List<Row> rows = new ArrayList<>();
    private final List<Set<Integer>> open = new ArrayList<>();
    private final List<Set<String>> locked = new ArrayList<>();

    Bucket(Random random) {
      this.random = random;
    }

    void step() {
      if (open.isEmpty() || random.nextInt(4) == 0) {
        open.add(new HashSet<>());
        locked.add(new HashSet<>());
      }
      int producer = random.nextInt(open.size());
      if (random.nextInt(3) == 0) {
        open.remove(producer);
        locked.remove(producer);
        return;
      }
      String key = KEYS.get(random.nextInt(KEYS.size()));
      boolean taken = locked.stream().anyMatch(l -> l != locked.get(producer) && l.contains(key));
      if (!taken) {
        locked.get(producer).add(key);
        open.get(producer).add(rows.size());
        rows.add(new ToMove(0, rows.size(), key, Status.PENDING, rows.size(), Status.BLOCKED));
      }
    }

    private boolean isCommitted(Row row) {
      return open.stream().noneMatch(rows -> rows.contains((int) row.sequence()));
    }

    /** The lowest of what is committed when it is visited, while producers go on. */
    List<Row> read(Visits visits) {
      TreeSet<Long> found = new TreeSet<>();
      List<Integer> order = new ArrayList<>();
      for (int i = 0; i < 30; i++) {
        order.add(visits == Visits.DOWNWARDS ? 29 - i : i);
      }
      if (visits == Visits.ANYHOW) {
        Collections.shuffle(order, random);
      }
      for (int at : order) {
        if (at < rows.size() && isCommitted(rows.get(at))) {
          found.add((long) at);
        }
        for (int steps = random.nextInt(3); steps > 0; steps--) {
          step();
        }
      }
      return found.stream().limit(MOST).map(seq -> rows.get(seq.intValue())).toList();
    }
  }

  private static void check(Visits visits, BiFunction<Set<Long>, List<Row>, List<Row>> together) {
    Random random = new Random(SEED);
    int given = 0;
    for (int run = 0; run < RUNS; run++) {
      Bucket bucket = new Bucket(random);
      for (int steps = random.nextInt(12); steps > 0; steps--) {
        bucket.step();
      }
      Set<Long> first = bucket.read(visits).stream().map(Row::sequence).collect(Collectors.toSet());
      List<Row> rows = together.apply(first, bucket.read(visits));
      given += rows.size();
      for (Row row : rows) {
        assertThat(bucket.rows.stream().filter(r -> r.key().equals(row.key())))
            .as("seed %d, run %d: what stands before %s", SEED, run, row)
            .filteredOn(r -> r.sequence() < row.sequence())
            .allMatch(rows::contains);
      }
    }
    assertThat(given).as("messages handed out").isGreaterThan(RUNS);
  }

  @ParameterizedTest
  @EnumSource
  @DisplayName("together leave nothing out of a key")
  void together(Visits visits) {
    check(visits, TwoReads::together);
  }

  @Test
  @DisplayName("do so with the rule only: one read alone does not, nor what both have found")
  void wrongRules() {
    assertOvertakes((first, second) -> second);
    assertOvertakes(
        (first, second) -> second.stream().filter(r -> first.contains(r.sequence())).toList());
    assertOvertakes(
        (first, second) -> {
          long last = first.stream().mapToLong(seq -> seq).max().orElse(-1);
          return second.stream().filter(r -> r.sequence() <= last).toList();
        });
  }

  /**
   * Of 20,000 runs the three rules overtake in about 130, 2,000 and 25. Upwards the third one does
   * so in 5, which is none for one seed of 150.
   */
  private static void assertOvertakes(BiFunction<Set<Long>, List<Row>, List<Row>> rule) {
    assertThatThrownBy(() -> check(Visits.ANYHOW, rule))
        .as("seed %d", SEED)
        .isInstanceOf(AssertionError.class);
  }

  @Test
  @DisplayName("together give all when nobody writes")
  void quiet() {
    Bucket bucket = new Bucket(new Random(SEED));
    for (int steps = 0; steps < 40; steps++) {
      bucket.step();
    }
    bucket.open.clear();
    List<Row> rows = bucket.rows.stream().limit(MOST).toList();
    assertThat(
            TwoReads.together(rows.stream().map(Row::sequence).collect(Collectors.toSet()), rows))
        .isEqualTo(rows);
  }
}
