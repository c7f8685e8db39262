package dev.outbox.tck;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.text.Normalizer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import net.jqwik.api.RandomGenerator;
import net.jqwik.api.Shrinkable;
import net.jqwik.api.sessions.JqwikSession;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.opentest4j.AssertionFailedError;

/**
 * That a store behaves as the reference, {@link dev.outbox.store.memory.MemoryOutboxStore}, in
 * whatever order things happen: random steps on both, compared after each ({@link Story} says how).
 * What fails is shrunk to few steps, and told with the seed. For the test class of a store:
 *
 * <pre>{@code
 * class MyStoreTest extends OutboxStoreTck<Connection> {
 *   @Nested
 *   class Properties extends OutboxStoreProperties<Connection> {
 *     Properties() {
 *       super(MyStoreTest.this);
 *     }
 *   }
 * }
 * }</pre>
 *
 * <p>It is part of this artifact, and not one of its own, because it takes the suite's fixture and
 * plays with the suite's words. What it needs beyond the suite are optional dependencies, so that
 * who does not want it does not get them: {@code net.jqwik:jqwik}, which makes the steps and
 * shrinks them, and {@code outbox-store-memory}. The memory store depends on the api alone, so
 * there is no cycle. JUnit runs it, and not jqwik's engine, because of the fixture: that has the
 * life of a JUnit class.
 *
 * <p>For a long run {@code -Doutbox.properties.tries=2000}, for other stories, or to see a failure
 * again, {@code -Doutbox.properties.seed}.
 *
 * @param <T> the transaction's type
 */
public abstract class OutboxStoreProperties<T> {

  /** The first story's seed unless told otherwise. */
  public static final long DEFAULT_SEED = 1;

  /** How many stories are tried unless told otherwise. */
  public static final int DEFAULT_TRIES = 40;

  /** Letters that have two cases each, the last with an accent. */
  private static final String KEY = "ordercaf\u00E9";

  private static final int MOST_STEPS = 40;
  private static final int MOST_SHRINKS = 1_000;
  private static final Duration FOR_SHRINKING = Duration.ofSeconds(20);
  private static final int SIZE = 1_000;

  private final OutboxStoreTck<T> tck;
  private final Map<String, Integer> seen = new TreeMap<>();
  private List<String> keys = List.of();

  /**
   * @param tck the test class of the store
   */
  protected OutboxStoreProperties(OutboxStoreTck<T> tck) {
    this.tck = tck;
  }

  /**
   * How many stories are tried; default {@code outbox.properties.tries}, or {@link #DEFAULT_TRIES}.
   */
  protected int tries() {
    return Integer.getInteger("outbox.properties.tries", DEFAULT_TRIES);
  }

  /**
   * Of the first story; those after it have the next ones. Default: {@link #DEFAULT_SEED}, so that
   * a build that was green stays so.
   */
  protected long seed() {
    return Long.getLong("outbox.properties.seed", DEFAULT_SEED);
  }

  /**
   * Makes time pass. Default: the test class, where it is one that {@link MovesClock}; null: time
   * does not pass, and no lease ends. It need not keep T1: it is never negative.
   */
  protected @Nullable MovesClock clock() {
    return tck instanceof MovesClock moves ? moves : null;
  }

  /** What happened in all stories that was worth telling, and how often. */
  protected Map<String, Integer> seen() {
    return seen;
  }

  @Test
  @Sentence("what happens in whatever order leads to what it leads to in the reference")
  void asInTheReference() {
    long first = seed();
    keys = keys();
    JqwikSession.run(
        () -> {
          RandomGenerator<Step> step = Step.any().generator(SIZE);
          for (int i = 0; i < tries(); i++) {
            Random random = new Random(first + i);
            List<Shrinkable<Step>> steps =
                Stream.generate(() -> step.next(random))
                    .limit(1 + random.nextInt(MOST_STEPS))
                    .toList();
            Failed failed = play(steps);
            if (failed != null) {
              throw new Shrinking(steps, failed).shrunk().report(first + i, steps.size());
            }
          }
        });
  }

  /** What went wrong in the last of these lines. */
  private record Failed(List<String> lines, AssertionError error) {
    AssertionFailedError report(long seed, int before) {
      String told =
          IntStream.range(0, lines.size())
              .mapToObj(i -> "%3d. %s".formatted(i + 1, lines.get(i)))
              .collect(Collectors.joining("\n"));
      return new AssertionFailedError(
          "%s\n%s\n(shrunk from %d steps; again with -Doutbox.properties.seed=%d)"
              .formatted(error.getMessage(), told, before, seed),
          error);
    }
  }

  private @Nullable Failed play(List<Shrinkable<Step>> steps) {
    PatientFixture<T> patient = tck.patient();
    patient.prepare();
    Duration window = Duration.ofDays(100_000);
    if (patient.is(DedupWindows.class)) {
      window = Story.DEDUP_WINDOW;
      DedupWindows<T> windows = patient.fixture(DedupWindows.class);
      patient.use(windows.createStore(window));
    }
    MovesClock clock = clock();
    MovesClock patientClock = clock == null ? null : patient.patient(MovesClock.class, clock);
    Story<T> story = new Story<>(patient, keys, patientClock, window, seen());
    try (story) {
      steps.forEach(step -> story.play(step.value()));
      story.finish();
      return null;
    } catch (AssertionError e) {
      return new Failed(story.lines(), e);
    }
  }

  /** Leaves out steps, many at once first, and then makes those that are left simpler. */
  private final class Shrinking {
    private final Set<List<Step>> tried = new HashSet<>();
    private long end = System.nanoTime() + FOR_SHRINKING.toNanos();
    private List<Shrinkable<Step>> steps;
    private Failed failed;

    Shrinking(List<Shrinkable<Step>> steps, Failed failed) {
      this.steps = steps;
      this.failed = failed;
    }

    Failed shrunk() {
      int before;
      do {
        before = tried.size();
        for (int part = steps.size(); part > 0; part /= 2) {
          leaveOut(part);
        }
        for (int i = 0; i < steps.size(); i++) {
          makeSimpler(i);
        }
      } while (tried.size() > before);
      return failed;
    }

    private void leaveOut(int part) {
      for (int from = steps.size() - part; from >= 0; from -= part) {
        List<Shrinkable<Step>> fewer = new ArrayList<>(steps);
        fewer.subList(from, Math.min(from + part, fewer.size())).clear();
        boolean ignored = failsToo(fewer);
      }
    }

    private void makeSimpler(int i) {
      boolean simpler;
      do {
        simpler =
            steps
                .get(i)
                .shrink()
                .anyMatch(
                    step -> {
                      List<Shrinkable<Step>> changed = new ArrayList<>(steps);
                      changed.set(i, step);
                      return failsToo(changed);
                    });
      } while (simpler);
    }

    private boolean failsToo(List<Shrinkable<Step>> candidate) {
      if (tried.size() >= MOST_SHRINKS
          || System.nanoTime() - end > 0
          || !tried.add(candidate.stream().map(Shrinkable::value).toList())) {
        return false;
      }
      Failed again;
      try {
        again = play(candidate);
      } catch (Patience.Hung | StoreTests.OtherRuleBroken e) {
        end = System.nanoTime(); // what was found so far is told
        return false;
      }
      if (again == null) {
        return false;
      }
      steps = candidate;
      failed = again;
      return true;
    }
  }

  /**
   * Names that differ in case only, in a blank only, in their Unicode form only. Where a lease
   * covers more than the claimed keys, the first two are covered by the same: while one is claimed,
   * nobody gets the other.
   */
  private List<String> keys() {
    tck.prepare();
    Words words = new Words();
    words.committed(KEY, 1);
    Claim held = words.claim();
    List<String> others = inOtherCases();
    words.commit(others.stream().map(name -> StoreTests.message(name).build()).toList());
    Set<String> free = new HashSet<>();
    for (Claim claim = words.claim(); !claim.messages().isEmpty(); claim = words.claim()) {
      claim.messages().stream().map(StoredMessage::key).forEach(free::add);
      words.settle(claim, Decision.delivered());
    }
    words.release(held);
    String together =
        others.stream().filter(name -> !free.contains(name)).findFirst().orElse(others.get(0));
    return List.of(KEY, together, KEY + " ", Normalizer.normalize(KEY, Normalizer.Form.NFD));
  }

  private static List<String> inOtherCases() {
    int letters = KEY.length() - 1;
    return IntStream.range(1, 1 << letters)
        .mapToObj(
            upper ->
                IntStream.range(0, KEY.length())
                    .mapToObj(
                        i ->
                            (upper >> i & 1) == 1
                                ? KEY.substring(i, i + 1).toUpperCase(Locale.ROOT)
                                : KEY.substring(i, i + 1))
                    .collect(Collectors.joining()))
        .toList();
  }

  private final class Words extends StoreTests<T> {
    Words() {
      super(OutboxStoreProperties.this.tck);
    }
  }
}
