package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.store.postgres.CertifiedSequences.Sample;
import dev.outbox.store.postgres.CertifiedSequences.Snapshot;
import dev.outbox.store.postgres.LowWaterMark.Ahead;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import net.jqwik.api.ForAll;
import net.jqwik.api.Label;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Label("A mark")
class LowWaterMarkPropertyTest {

  /** What the model refuted, and the rule. */
  enum Rule {
    RIGHT,
    ID_BEFORE_SAMPLE,
    KNOWN_WHEN_IT_RETURNS,
    LATER_HORIZON,
    PASSES_WHAT_WAS_READ,
    PASSES_WHAT_IS_NOT_DELETED,
    SNAPSHOT_WITHOUT_LIMIT,
    AHEAD_WHOEVER_IS_OVER,
    AHEAD_AS_SEEN_BEFORE
  }

  @Property(tries = 3_000)
  @Label("never passes a message that commits late, whoever stalls, rolls back or takes over")
  void neverPasses(
      @ForAll @Size(max = 150) List<@IntRange(max = 10) Integer> steps, @ForAll Random random) {
    World world = new World(random, Rule.RIGHT);
    steps.forEach(world::step);
    assertThat(world.passed).as("PENDING below the mark").isEmpty();
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "RIGHT")
  void wouldPassOneAndThePropertyNotices(Rule wrong) {
    int noticed = 0;
    for (int seed = 0; seed < 3_000; seed++) {
      Random random = new Random(seed);
      World world = new World(random, wrong);
      random.ints(150, 0, 11).forEach(world::step);
      noticed += world.passed.isEmpty() ? 0 : 1;
    }
    assertThat(noticed).isPositive();
  }

  /**
   * One bucket's messages; producers that draw an id, draw a sequence, and end; the bucket's
   * holder; and other workers of the same store.
   */
  private static final class World {
    private final Random random;
    private final Rule rule;
    private final CertifiedSequences certified = new CertifiedSequences(() -> 0, Duration.ZERO);
    private long nextId = 1;
    private long nextSequence = 1;

    /** Open transactions that have an id, and the sequence they have drawn, or 0. */
    private final TreeMap<Long, Long> producers = new TreeMap<>();

    /** The highest id of a transaction that is over: a snapshot knows nothing of higher ones. */
    private long over;

    private final TreeSet<Long> pending = new TreeSet<>();
    private long stored;
    private Ahead storedAhead = new Ahead(0, Set.of());
    private LowWaterMark held;
    private List<Long> claimed = List.of();

    final TreeSet<Long> passed = new TreeSet<>();

    World(Random random, Rule rule) {
      this.random = random;
      this.rule = rule;
    }

    void step(int step) {
      switch (step) {
        case 0, 1 -> producers.put(nextId++, 0L);
        case 2, 3 -> drawSequence();
        case 4, 5 -> end();
        case 6 -> lease();
        case 7 -> settleAndRead();
        case 8 -> certifyElsewhere();
        case 9 -> askForSnapshot();
        default -> letGo();
      }
      passed.addAll(pending.headSet(stored));
      passed.addAll(missedFrom(storedAhead));
    }

    /** What a read that begins there does not bring. */
    private Set<Long> missedFrom(Ahead ahead) {
      return isOpen(ahead) ? pending.headSet(ahead.low()) : Set.of();
    }

    private boolean isOpen(Ahead ahead) {
      return rule == Rule.AHEAD_WHOEVER_IS_OVER || producers.keySet().containsAll(ahead.open());
    }

    private void drawSequence() {
      List<Long> without = producers.keySet().stream().filter(p -> producers.get(p) == 0).toList();
      if (!without.isEmpty()) {
        long id = without.get(random.nextInt(without.size()));
        producers.put(id, nextSequence++);
      }
    }

    /** A worker with other buckets asks, and the answer takes its time. */
    private void askForSnapshot() {
      long next = nextSequence;
      meanwhile();
      long id = nextId++;
      Sample sample = certified.begin("", next, id);
      meanwhile();
      boolean asks = certified.asks(sample);
      long limit = rule == Rule.SNAPSHOT_WITHOUT_LIMIT ? Long.MAX_VALUE : over + 1;
      Snapshot snapshot = new Snapshot(limit, Set.copyOf(producers.headMap(over + 1).keySet()));
      meanwhile();
      if (asks) {
        certified.answered(sample, snapshot);
      }
      // Or it is open still when the next one asks.
      over = random.nextBoolean() ? Math.max(over, id) : over;
    }

    private void end() {
      if (!producers.isEmpty()) {
        List<Long> ids = List.copyOf(producers.keySet());
        long id = ids.get(random.nextInt(ids.size()));
        long sequence = producers.remove(id);
        over = Math.max(over, id);
        if (sequence != 0 && random.nextInt(4) > 0) {
          pending.add(sequence);
        }
      }
    }

    /** Between statements, and while an answer is on its way, others go on. */
    private void meanwhile() {
      for (int i = random.nextInt(12); i > 0; i--) {
        switch (random.nextInt(4)) {
          case 0 -> producers.put(nextId++, 0L);
          case 1 -> drawSequence();
          case 2 -> end();
          default -> certifyElsewhere();
        }
      }
    }

    /** A worker with other buckets runs a transaction. */
    private void certifyElsewhere() {
      Sample sample = certified.begin("", nextSequence, nextId++);
      long ignored = certified.afterRead(sample, horizon(nextId - 1));
    }

    private Sample begin() {
      long early = rule == Rule.ID_BEFORE_SAMPLE ? nextId++ : 0;
      if (early != 0) {
        meanwhile();
      }
      long next = nextSequence;
      if (early == 0) {
        meanwhile();
      }
      long id = early != 0 ? early : nextId++;
      own = id;
      return certified.begin("", next, id);
    }

    private long own;

    private long horizon(long id) {
      // This transaction is no producer.
      boolean oldest = producers.isEmpty() || producers.firstKey() > id;
      return oldest ? id + 1 : producers.firstKey();
    }

    /** Also of a lease that ran out: then the mark is forgotten, and the claim is nobody's. */
    private void lease() {
      if (held != null) {
        stored = 0;
        storedAhead = new Ahead(0, Set.of());
      }
      held = LowWaterMark.stored(stored, storedAhead, begin());
      meanwhile();
      read();
    }

    private void settleAndRead() {
      if (held != null) {
        held = held.in(begin());
        settle();
        meanwhile();
        read();
      }
    }

    private void letGo() {
      if (held != null) {
        held = held.in(begin());
        settle();
        stored = held.low();
        storedAhead = held.ahead();
        held = null;
      }
    }

    private void settle() {
      // Not all: some stay PENDING.
      List<Long> delivered = new ArrayList<>(claimed);
      delivered.removeIf(s -> random.nextInt(8) == 0);
      delivered.forEach(pending::remove);
      held =
          held.afterDelete(
              rule == Rule.PASSES_WHAT_IS_NOT_DELETED
                  ? held.read().sequences().length
                  : LowWaterMarkTest.inFront(held, sequences(delivered)));
      claimed = List.of();
    }

    private static long[] sequences(List<Long> boxed) {
      return boxed.stream().mapToLong(Long::longValue).toArray();
    }

    private void read() {
      int most = 1 + random.nextInt(3);
      boolean open = isOpen(held.ahead());
      if (rule == Rule.AHEAD_AS_SEEN_BEFORE) {
        meanwhile();
      }
      LowWaterMark mark = open ? held : held.withoutAhead();
      claimed = pending.tailSet(mark.ahead().low()).stream().limit(most).toList();
      passed.addAll(pending.headSet(mark.ahead().low()));
      long horizon = open ? horizon(own) : 0;
      meanwhile();
      if (rule == Rule.LATER_HORIZON) {
        horizon = horizon(own);
      }
      if (rule == Rule.KNOWN_WHEN_IT_RETURNS) {
        mark = mark.in(certified.begin("", nextSequence, 0));
      }
      long below = certified.afterRead(mark.sample(), horizon);
      if (rule == Rule.PASSES_WHAT_WAS_READ && !claimed.isEmpty()) {
        below = Math.max(below, claimed.get(claimed.size() - 1) + 1);
      }
      held = mark.afterRead(sequences(claimed), most, below);
      passed.addAll(pending.headSet(held.low()));
      passed.addAll(missedFrom(held.ahead()));
    }
  }
}
