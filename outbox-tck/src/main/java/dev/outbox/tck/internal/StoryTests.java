package dev.outbox.tck.internal;

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

/**
 * Random steps on a store and on a reference, compared after each. What fails is shrunk to few
 * steps, and told with the seed.
 *
 * @param <P> the test class as the tests call it
 * @param <S> a step; equal steps do the same
 */
@Place(Place.LAST)
public abstract class StoryTests<P extends Patient<?, ?>, S> extends SuiteTests<P> {

  /** The first story's seed unless told otherwise. */
  public static final long DEFAULT_SEED = 1;

  /** How many stories are tried unless told otherwise. */
  public static final int DEFAULT_TRIES = 40;

  private static final int MOST_STEPS = 40;
  private static final int MOST_SHRINKS = 1_000;
  private static final Duration FOR_SHRINKING = Duration.ofSeconds(20);

  private final Map<String, Integer> seen = new TreeMap<>();

  /** A story that is being played. */
  public interface Story<S> extends AutoCloseable {
    void play(S step);

    /** Looks at what all of it has led to. */
    default void finish() {}

    /** What happened, a line each. */
    List<String> lines();

    @Override
    default void close() {}
  }

  protected abstract S step(Random random);

  /** A story that begins with an empty store. */
  protected abstract Story<S> begin();

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

  /** What happened in all stories that was worth telling, and how often. */
  protected Map<String, Integer> seen() {
    return seen;
  }

  @Sentence("what happens in whatever order leads to what it leads to in the reference")
  void asInTheReference() {
    for (int i = 0; i < tries(); i++) {
      Random random = new Random(seed() + i);
      List<S> steps =
          Stream.generate(() -> step(random)).limit(1 + random.nextInt(MOST_STEPS)).toList();
      Failed failed = play(steps);
      if (failed != null) {
        throw new Shrinking(steps, failed).shrunk().report(seed() + i, steps.size());
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

  private @Nullable Failed play(List<S> steps) {
    tck.prepare();
    try (Story<S> story = begin()) {
      try {
        steps.forEach(story::play);
        story.finish();
        return null;
      } catch (AssertionError e) {
        return new Failed(story.lines(), e);
      }
    }
  }

  /** Leaves out steps, many at once first. */
  private final class Shrinking {
    private final Set<List<S>> tried = new HashSet<>();
    private long end = System.nanoTime() + FOR_SHRINKING.toNanos();
    private List<S> steps;
    private Failed failed;

    Shrinking(List<S> steps, Failed failed) {
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
      } while (tried.size() > before);
      return failed;
    }

    private void leaveOut(int part) {
      for (int from = steps.size() - part; from >= 0; from -= part) {
        List<S> fewer = new ArrayList<>(steps);
        fewer.subList(from, Math.min(from + part, fewer.size())).clear();
        boolean ignored = failsToo(fewer);
      }
    }

    private boolean failsToo(List<S> candidate) {
      if (tried.size() >= MOST_SHRINKS || System.nanoTime() - end > 0 || !tried.add(candidate)) {
        return false;
      }
      Failed again;
      try {
        again = play(candidate);
      } catch (Patience.Hung | OtherRuleBroken e) {
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
}
