package dev.outbox.store.postgres;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.store.postgres.Certified.Holder;
import dev.outbox.store.postgres.Certified.Question;
import dev.outbox.store.postgres.Certified.Sample;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
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
class MarkPropertyTest {

  /** What the model refuted, and the rule. */
  enum Rule {
    RIGHT,
    ID_BEFORE_SAMPLE,
    KNOWN_WHEN_IT_RETURNS,
    LATER_HORIZON,
    PASSES_WHAT_WAS_READ,
    PASSES_WHAT_IS_NOT_DELETED,
    HOLDERS_BEFORE_SAMPLE,
    LOCK_ENDS_EARLY,
    LOCK_AFTER_SEQUENCE
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
   * One bucket's messages; producers that draw an id, lock the table and draw a sequence, end, and
   * let go of the lock; the bucket's holder; and other workers of the same store.
   */
  private static final class World {
    private final Random random;
    private final Rule rule;
    private final Certified certified = new Certified(() -> 0, Duration.ZERO);
    private long nextId = 1;
    private long nextSequence = 1;

    /** Open transactions that have an id, and the sequence they have drawn, or 0. */
    private final TreeMap<Long, Long> producers = new TreeMap<>();

    /** Transactions that hold a lock on the table, also those that have just ended. */
    private final TreeSet<Long> locks = new TreeSet<>();

    private final TreeSet<Long> pending = new TreeSet<>();
    private long stored;
    private Mark held;
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
        case 9 -> askForHolders();
        default -> letGo();
      }
      passed.addAll(pending.headSet(stored));
    }

    private void drawSequence() {
      List<Long> without = producers.keySet().stream().filter(p -> producers.get(p) == 0).toList();
      if (!without.isEmpty()) {
        long id = without.get(random.nextInt(without.size()));
        if (rule != Rule.LOCK_AFTER_SEQUENCE) {
          locks.add(id);
        }
        producers.put(id, nextSequence++);
      }
    }

    /** Some who are over let go of their locks. */
    private void unlock() {
      locks.removeIf(
          id ->
              (rule == Rule.LOCK_ENDS_EARLY || !producers.containsKey(id)) && random.nextBoolean());
      if (rule == Rule.LOCK_AFTER_SEQUENCE) {
        producers.forEach(
            (id, sequence) -> {
              if (sequence != 0 && random.nextBoolean()) {
                locks.add(id);
              }
            });
      }
    }

    private Set<Holder> holders() {
      return locks.stream().map(id -> new Holder("" + id, false)).collect(toSet());
    }

    /** A worker with other buckets asks, and the answer takes its time. */
    private void askForHolders() {
      Set<Holder> before = holders();
      if (rule == Rule.HOLDERS_BEFORE_SAMPLE) {
        meanwhile();
      }
      Sample sample = certified.begin("", nextSequence, nextId++);
      meanwhile();
      Optional<Question> question = certified.question(sample);
      Set<Holder> found = rule == Rule.HOLDERS_BEFORE_SAMPLE ? before : holders();
      meanwhile();
      question.ifPresent(asked -> certified.answered(asked, found));
    }

    private void end() {
      if (!producers.isEmpty()) {
        List<Long> ids = List.copyOf(producers.keySet());
        long sequence = producers.remove(ids.get(random.nextInt(ids.size())));
        if (sequence != 0 && random.nextInt(4) > 0) {
          pending.add(sequence);
        }
      }
    }

    /** Between statements, and while an answer is on its way, others go on. */
    private void meanwhile() {
      for (int i = random.nextInt(12); i > 0; i--) {
        switch (random.nextInt(5)) {
          case 0 -> producers.put(nextId++, 0L);
          case 1 -> drawSequence();
          case 2 -> end();
          case 3 -> unlock();
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
      long low = held == null ? stored : 0;
      stored = low;
      held = Mark.stored(low, begin());
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
                  : MarkTest.inFront(held, sequences(delivered)));
      claimed = List.of();
    }

    private static long[] sequences(List<Long> boxed) {
      return boxed.stream().mapToLong(Long::longValue).toArray();
    }

    private void read() {
      int most = 1 + random.nextInt(3);
      claimed = pending.tailSet(held.low()).stream().limit(most).toList();
      long horizon = horizon(own);
      meanwhile();
      if (rule == Rule.LATER_HORIZON) {
        horizon = horizon(own);
      }
      Sample sample =
          rule == Rule.KNOWN_WHEN_IT_RETURNS ? certified.begin("", nextSequence, 0) : held.sample();
      long below = certified.afterRead(sample, horizon);
      if (rule == Rule.PASSES_WHAT_WAS_READ && !claimed.isEmpty()) {
        below = Math.max(below, claimed.get(claimed.size() - 1) + 1);
      }
      held = held.afterRead(sequences(claimed), most, below);
      passed.addAll(pending.headSet(held.low()));
    }
  }
}
