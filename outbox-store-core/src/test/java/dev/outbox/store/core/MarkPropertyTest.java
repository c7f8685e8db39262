package dev.outbox.store.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Label;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

@Label("A mark")
class MarkPropertyTest {
  private static final long NONE = Long.MAX_VALUE;

  @Property(tries = 3_000)
  @Label("never passes a message that commits late, whoever stalls, rolls back or takes over")
  void neverPasses(
      @ForAll @Size(max = 150) List<@IntRange(max = 8) Integer> steps, @ForAll Random random) {
    World world = new World(random, false);
    steps.forEach(world::step);
    assertThat(world.passed).as("PENDING below the mark").isEmpty();
  }

  @Example
  @Label("with the id of the transaction that read would pass one, and the property notices")
  void noticed() {
    int noticed = 0;
    for (int seed = 0; seed < 3_000; seed++) {
      Random random = new Random(seed);
      World world = new World(random, true);
      random.ints(150, 0, 9).forEach(world::step);
      noticed += world.passed.isEmpty() ? 0 : 1;
    }
    assertThat(noticed).isPositive();
  }

  /** One bucket's messages, producers that draw an id, then a sequence, and end; and a relay. */
  private static final class World {
    private final Random random;
    private final boolean readersId;
    private long nextId = 1;
    private long nextSequence = 1;

    /** Open transactions that have an id, and the sequence they have drawn, or 0. */
    private final TreeMap<Long, Long> producers = new TreeMap<>();

    private final TreeSet<Long> pending = new TreeSet<>();
    private Mark stored = Mark.none("");
    private Mark held;
    private List<Long> claimed = List.of();
    private long reader;

    final TreeSet<Long> passed = new TreeSet<>();

    World(Random random, boolean readersId) {
      this.random = random;
      this.readersId = readersId;
    }

    void step(int step) {
      switch (step) {
        case 0, 1 -> producers.put(nextId++, 0L);
        case 2, 3 -> drawSequence();
        case 4, 5 -> end();
        case 6 -> lease();
        case 7 -> settleAndRead();
        default -> letGo();
      }
      passed.addAll(pending.headSet(stored.low()));
    }

    private void drawSequence() {
      List<Long> without = producers.keySet().stream().filter(p -> producers.get(p) == 0).toList();
      if (!without.isEmpty()) {
        producers.put(without.get(random.nextInt(without.size())), nextSequence++);
      }
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

    /** Also of a lease that ran out: then the mark is forgotten, and the claim is nobody's. */
    private void lease() {
      held = held == null ? stored : Mark.none("");
      stored = Mark.stored(held.low(), held.candidate(), held.after(), "");
      long id = nextId++;
      meanwhile();
      read(id);
    }

    private void settleAndRead() {
      if (held != null) {
        long id = nextId++;
        settle(id);
        meanwhile();
        read(id);
      }
    }

    /** Between the statements of a transaction others go on. */
    private void meanwhile() {
      for (int i = random.nextInt(12); i > 0; i--) {
        switch (random.nextInt(3)) {
          case 0 -> producers.put(nextId++, 0L);
          case 1 -> drawSequence();
          default -> end();
        }
      }
    }

    private void letGo() {
      if (held != null) {
        settle(nextId++);
        stored = Mark.stored(held.low(), held.candidate(), held.after(), "");
        held = null;
      }
    }

    private void settle(long id) {
      // Not all: some stay PENDING.
      claimed.stream().filter(s -> random.nextInt(5) > 0).forEach(pending::remove);
      claimed = List.of();
      held = held.afterSettle(readersId ? reader : id, "");
    }

    private void read(long id) {
      reader = id;
      int most = 1 + random.nextInt(3);
      claimed = pending.tailSet(held.low()).stream().limit(most).toList();
      // This transaction is no producer.
      boolean oldest = producers.isEmpty() || producers.firstKey() > id;
      long horizon = oldest ? id + 1 : producers.firstKey();
      long lowest = claimed.isEmpty() ? NONE : claimed.get(0);
      long highest = claimed.isEmpty() ? 0 : claimed.get(claimed.size() - 1);
      held = held.afterRead(lowest, highest, horizon);
      passed.addAll(pending.headSet(held.low()));
    }
  }
}
