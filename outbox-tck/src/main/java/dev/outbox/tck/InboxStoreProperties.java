package dev.outbox.tck;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.opentest4j.AssertionFailedError;

/**
 * That an inbox behaves as the reference, {@link dev.outbox.store.memory.MemoryInboxStore}, in
 * whatever order things happen: random steps on both, compared after each ({@link InboxStory} says
 * how). What fails is cut down to few steps, and told with the seed. For the test class of an
 * inbox:
 *
 * <pre>{@code
 * class MyInboxTest extends InboxStoreTck<Connection> {
 *   @Nested
 *   class Properties extends InboxStoreProperties<Connection> {
 *     Properties() {
 *       super(MyInboxTest.this);
 *     }
 *   }
 * }
 * }</pre>
 *
 * <p>It needs {@code outbox-store-memory}, which is an optional dependency of this artifact. For a
 * long run {@code -Doutbox.properties.tries=2000}, for other stories, or to see a failure again,
 * {@code -Doutbox.properties.seed}.
 *
 * @param <T> the transaction's type
 */
public abstract class InboxStoreProperties<T> {

  /** The first story's seed unless told otherwise. */
  public static final long DEFAULT_SEED = OutboxStoreProperties.DEFAULT_SEED;

  /** How many stories are tried unless told otherwise. */
  public static final int DEFAULT_TRIES = OutboxStoreProperties.DEFAULT_TRIES;

  private static final int MOST_STEPS = 40;
  private static final Duration FOR_CUTTING_DOWN = Duration.ofSeconds(20);

  private final InboxStoreTck<T> tck;
  private final Map<String, Integer> seen = new TreeMap<>();

  /**
   * @param tck the test class of the inbox
   */
  protected InboxStoreProperties(InboxStoreTck<T> tck) {
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

  /** What happened in all stories that was worth telling, and how often. */
  protected Map<String, Integer> seen() {
    return seen;
  }

  @Test
  @Sentence("what happens in whatever order leads to what it leads to in the reference")
  void asInTheReference() {
    long first = seed();
    for (int i = 0; i < tries(); i++) {
      Random random = new Random(first + i);
      List<InboxStory.Step> steps =
          Stream.generate(() -> InboxStory.Step.any(random))
              .limit(1 + random.nextInt(MOST_STEPS))
              .toList();
      Failed failed = play(steps);
      if (failed != null) {
        throw cutDown(steps, failed).report(first + i, steps.size());
      }
    }
  }

  /** What went wrong in the last of these lines. */
  private record Failed(List<String> lines, AssertionError error) {
    AssertionFailedError report(long seed, int before) {
      String told =
          IntStream.range(0, lines.size())
              .mapToObj(i -> "%3d. %s".formatted(i + 1, lines.get(i)))
              .collect(Collectors.joining("\n"));
      return new AssertionFailedError(
          "%s\n%s\n(cut down from %d steps; again with -Doutbox.properties.seed=%d)"
              .formatted(error.getMessage(), told, before, seed),
          error);
    }
  }

  private @Nullable Failed play(List<InboxStory.Step> steps) {
    tck.patient().prepare();
    InboxStory<T> story = new InboxStory<>(tck.patient(), seen);
    try {
      steps.forEach(story::play);
      return null;
    } catch (AssertionError e) {
      return new Failed(story.lines(), e);
    }
  }

  /** Leaves out each step in turn, from the last on, for as long as it fails without. */
  private Failed cutDown(List<InboxStory.Step> steps, Failed failed) {
    long end = System.nanoTime() + FOR_CUTTING_DOWN.toNanos();
    List<InboxStory.Step> fewer = new ArrayList<>(steps);
    Failed last = failed;
    for (int i = fewer.size() - 1; i >= 0 && System.nanoTime() < end; i--) {
      InboxStory.Step left = fewer.remove(i);
      Failed without = play(fewer);
      if (without == null) {
        fewer.add(i, left);
      } else {
        last = without;
      }
    }
    return last;
  }
}
