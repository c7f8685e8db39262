package dev.outbox.tck.store;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.internal.StoryTests;
import dev.outbox.tck.internal.StoryTests.Story;
import java.text.Normalizer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * That a store behaves as the reference, {@link dev.outbox.store.memory.MemoryOutboxStore}, in
 * whatever order things happen: random steps on both, compared after each ({@link StoreStory} says
 * how). What fails is shrunk to few steps, and told with the seed. For the test class of a store:
 *
 * <pre>{@code
 * class MyStoreTest extends OutboxStoreTck<Connection> {
 *   @Nested
 *   class Properties extends OutboxStoreProperties<Connection> {}
 * }
 * }</pre>
 *
 * <p>It needs {@code outbox-store-memory}, which is an optional dependency of this artifact.
 *
 * <p>For a long run {@code -Doutbox.properties.tries=2000}, for other stories, or to see a failure
 * again, {@code -Doutbox.properties.seed}.
 *
 * @param <T> the transaction's type
 */
public abstract class OutboxStoreProperties<T> extends StoryTests<PatientFixture<T>, Step> {
  /** Letters that have two cases each, the last with an accent. */
  private static final String KEY = "ordercaf\u00E9";

  private List<String> keys = List.of();

  /**
   * Makes time pass. Default: the test class, where it is one that {@link MovesClock}; null: time
   * does not pass, and no lease ends. It need not keep T1: it is never negative.
   */
  protected @Nullable MovesClock clock() {
    return tck.is(MovesClock.class) ? tck.fixture(MovesClock.class) : null;
  }

  @Override
  protected Step step(Random random) {
    return Step.any(random);
  }

  @Override
  protected Story<Step> begin() {
    if (keys.isEmpty()) {
      keys = new Words<>(tck).keys();
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

  private static final class Words<T> extends StoreTests<T> {
    Words(PatientFixture<T> tck) {
      super(tck);
    }

    /**
     * Names that differ in case only, in a blank only, in their Unicode form only. Where a lease
     * covers more than the claimed keys, the first two are covered by the same: while one is
     * claimed, nobody gets the other.
     */
    List<String> keys() {
      committed(KEY, 1);
      Claim held = claim();
      List<String> others = inOtherCases();
      commit(others.stream().map(name -> message(name).build()).toList());
      Set<String> free = new HashSet<>();
      for (Claim claim = claim(); !claim.messages().isEmpty(); claim = claim()) {
        claim.messages().stream().map(StoredMessage::key).forEach(free::add);
        settle(claim, Decision.delivered());
      }
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
  }
}
