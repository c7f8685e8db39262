package dev.outbox.tck.store;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.internal.Patience;
import dev.outbox.tck.internal.Patience.OtherRuleBroken;
import dev.outbox.tck.internal.Place;
import dev.outbox.tck.internal.Sentence;
import dev.outbox.tck.store.StoreStory.Step;
import java.text.Normalizer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opentest4j.AssertionFailedError;
import org.opentest4j.TestAbortedException;

/**
 * That a store behaves as the reference, a model of a store's messages, in whatever order things
 * happen: random steps on both, compared after each ({@link StoreStory} says how). What fails is
 * shrunk to few steps, and told with the seed. For the test class of a store:
 *
 * <pre>{@code
 * class MyStoreTest extends OutboxStoreTck<Connection> {
 *   @Nested
 *   class Properties extends OutboxStoreProperties<Connection> {}
 * }
 * }</pre>
 *
 * <p>For a long run {@code -Doutbox.properties.tries=2000}, for other stories, or to see a failure
 * again, {@code -Doutbox.properties.seed}.
 *
 * @param <T> the transaction's type
 */
@Place(Place.LAST)
public abstract class OutboxStoreProperties<T> extends StoreTests<T> {
  private static final int MOST_STEPS = 40;
  private static final Duration FOR_SHRINKING = Duration.ofSeconds(20);

  /** Letters that have two cases each, the last with an accent. */
  private static final String KEY = "ordercaf\u00E9";

  private final Map<String, Integer> seen = new TreeMap<>();
  private List<String> keys = List.of();

  /**
   * Makes time pass. Default: the test class, where it is one that {@link MovesClock}; null: time
   * does not pass, and no lease ends. It need not keep T1: it is never negative.
   */
  protected @Nullable MovesClock clock() {
    return tck.is(MovesClock.class) ? tck.fixture(MovesClock.class) : null;
  }

  /** How many stories are tried; default {@code outbox.properties.tries}, or 40. */
  protected int tries() {
    return Integer.getInteger("outbox.properties.tries", 40);
  }

  /**
   * Of the first story; those after it have the next ones. Default: {@code outbox.properties.seed},
   * or 1, so that a build that was green stays so.
   */
  protected long seed() {
    return Long.getLong("outbox.properties.seed", 1);
  }

  /** What happened in all stories that was worth telling, and how often. */
  protected Map<String, Integer> seen() {
    return seen;
  }

  @Sentence("what happens in whatever order leads to what it leads to in the reference")
  void asInTheReference() {
    for (int i = 0; i < tries(); i++) {
      Random random = new Random(seed() + i);
      List<Step> steps =
          Stream.generate(() -> Step.any(random)).limit(1 + random.nextInt(MOST_STEPS)).toList();
      Failed failed = play(steps);
      if (failed != null) {
        throw shrunk(steps, failed).report(seed() + i, steps.size());
      }
    }
  }

  /** What went wrong in the last of these lines. */
  private record Failed(List<String> lines, AssertionError error) {
    AssertionFailedError report(long seed, int before) {
      String told =
          IntStream.range(0, lines.size())
              .mapToObj(i -> "%3s. %s".formatted(i + 1, lines.get(i)))
              .collect(Collectors.joining("\n"));
      return new AssertionFailedError(
          "%s\n%s\n(shrunk from %s steps; again with -Doutbox.properties.seed=%s)"
              .formatted(error.getMessage(), told, before, seed),
          error);
    }
  }

  private @Nullable Failed play(List<Step> steps) {
    tck.prepare();
    try (StoreStory<T> story = begin()) {
      try {
        steps.forEach(story::play);
        story.finish();
        return null;
      } catch (AssertionError e) {
        return new Failed(story.messages.lines, e);
      } catch (TestAbortedException e) {
        throw e;
      } catch (RuntimeException e) {
        return new Failed(story.messages.lines, new AssertionError("the store threw " + e, e));
      }
    }
  }

  /** A story that begins with an empty store. */
  private StoreStory<T> begin() {
    if (keys.isEmpty()) {
      keys = keys();
      tck.prepare();
    }
    Duration window = Duration.ofDays(100_000);
    if (tck.is(DedupWindows.class)) {
      window = StoreStory.DEDUP_WINDOW;
      DedupWindows<T> windows = tck.fixture(DedupWindows.class);
      tck.use(windows.createStore(window));
    }
    MovesClock clock = clock();
    return new StoreStory<>(
        tck, keys, clock == null ? null : tck.patient(MovesClock.class, clock), window, seen());
  }

  /**
   * Names that differ in case only, in a blank only, in their Unicode form only. Where a lease
   * covers more than the claimed keys, the first two are covered by the same: while one is claimed,
   * nobody gets the other.
   */
  private List<String> keys() {
    committed(KEY, 1);
    Claim held = claim();
    List<String> others = inOtherCases();
    commit(others.stream().map(name -> message(name).build()).toList());
    Set<String> free = new HashSet<>();
    decideAll(100, m -> Decision.delivered()).forEach(m -> free.add(m.key()));
    release(held);
    String together =
        others.stream().filter(name -> !free.contains(name)).findFirst().orElse(others.get(0));
    return List.of(KEY, together, KEY + " ", Normalizer.normalize(KEY, Normalizer.Form.NFD));
  }

  private static List<String> inOtherCases() {
    List<String> names = new ArrayList<>();
    for (int upper = 1; upper < 1 << (KEY.length() - 1); upper++) {
      char[] name = KEY.toCharArray();
      for (int i = 0; i < name.length; i++) {
        name[i] = (upper >> i & 1) == 1 ? Character.toUpperCase(name[i]) : name[i];
      }
      names.add(new String(name));
    }
    return names;
  }

  /** Leaves out steps, many at once first, as long as the rest fails too. */
  private Failed shrunk(List<Step> steps, Failed failed) {
    long end = System.nanoTime() + FOR_SHRINKING.toNanos();
    List<Step> left = steps;
    Failed told = failed;
    try {
      for (int part = left.size(); part > 0; ) {
        int before = left.size();
        for (int from = before - part; from >= 0 && System.nanoTime() < end; from -= part) {
          List<Step> fewer = new ArrayList<>(left);
          fewer.subList(from, Math.min(from + part, fewer.size())).clear();
          Failed again = play(fewer);
          if (again != null) {
            left = fewer;
            told = again;
          }
        }
        part = left.size() < before ? Math.min(part, left.size()) : part / 2;
      }
    } catch (Patience.Hung | OtherRuleBroken e) {
      // what was found so far is told
    }
    return told;
  }
}
