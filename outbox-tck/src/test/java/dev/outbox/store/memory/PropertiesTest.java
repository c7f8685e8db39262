package dev.outbox.store.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectNestedClass;

import dev.outbox.Appended;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Decision;
import dev.outbox.tck.Failure;
import dev.outbox.tck.store.OutboxStoreProperties;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The properties are worth what they catch, and a failure is worth what it tells. */
class PropertiesTest {
  private static final int TRIES = 500;
  private static final long SEED = 1;

  private static Map<String, Integer> seen = Map.of();

  static class Suite extends BrokenStoresTest.WithoutExpiry {
    @Nested
    class Properties extends OutboxStoreProperties<MemoryTransaction> {
      @Override
      protected int tries() {
        return TRIES;
      }

      @Override
      protected long seed() {
        return SEED;
      }

      @Override
      protected Map<String, Integer> seen() {
        seen = super.seen();
        return seen;
      }
    }
  }

  private static List<Failure> failures(Class<?> store) {
    BrokenStoresTest.STORE.set(store);
    return Failure.of(
        Failure.results(selectNestedClass(List.of(Suite.class), Suite.Properties.class)));
  }

  @Test
  @DisplayName("the memory store has them, in stories in which everything happens")
  void passes() {
    assertThat(failures(BrokenStoresTest.NotBroken.class)).isEmpty();
    assertThat(seen)
        .as("what happened in %d stories", TRIES)
        .containsOnlyKeys(
            "counted at the claim",
            "duplicate",
            "late commit",
            "late settle",
            "lost",
            "renew",
            "requeue",
            "settle",
            "takeover")
        .allSatisfy((what, times) -> assertThat(times).as(what).isPositive());
  }

  @Test
  @DisplayName("a store that hands out little, and leases more than it hands out, has them too")
  void modest() {
    assertThat(failures(BrokenStoresTest.Modest.class)).isEmpty();
  }

  /** Takes a delay for a comment. */
  static final class ForgetsDelays extends BrokenStores.Broken {
    @Override
    Instant dueAgain(Decision.Retry retry) {
      return now();
    }
  }

  /** Appends a dead letter anew. */
  static final class RequeuesAtTheEnd extends BrokenStores.Broken {
    @Override
    public synchronized boolean requeue(long sequence) {
      for (Key key : keys.values()) {
        Row row = key.rows.get(sequence);
        if (row != null && row.dead) {
          key.rows.remove(sequence);
          Row other = newRow(row.key, row.message);
          key.rows.put(other.sequence, other);
          return true;
        }
      }
      return false;
    }
  }

  /** Forgets that a dead letter may block its key. */
  static final class IgnoresBlockedKeys extends BrokenStores.Broken {
    @Override
    void apply(Key key, Row row, Decision decision, boolean countedBefore) {
      super.apply(key, row, decision, countedBefore);
      row.haltsKey = false;
    }
  }

  /** Names duplicates, and stores them too. */
  static final class StoresDuplicates extends BrokenStores.Broken {
    @Override
    public synchronized Appended append(
        MemoryTransaction transaction, List<OutboxMessage> messages) {
      Appended appended = super.append(transaction, messages);
      messages.stream()
          .filter(message -> appended.duplicates().contains(message.id()))
          .forEach(message -> transaction.rows.add(newRow(message.key(), message)));
      return appended;
    }
  }

  /** Takes a message that no decision names for delivered. */
  static final class DropsTheUndecided extends BrokenStores.Broken {
    @Override
    synchronized Set<Long> settle(MemoryClaim claim, Map<Long, Decision> decisions) {
      Map<Long, Decision> all = new HashMap<>();
      claim.messages.forEach(message -> all.put(message.sequence(), Decision.delivered()));
      all.putAll(decisions);
      return super.settle(claim, all);
    }
  }

  /** Prolongs a lease that another has taken over. */
  static final class RenewsWhatItLost extends BrokenStores.Broken {
    @Override
    synchronized Set<Long> renew(MemoryClaim claim, Duration lease) {
      Instant now = now();
      claim.rows.keySet().forEach(key -> key.lease(claim, now, lease));
      return super.renew(claim, lease);
    }
  }

  /** Has a driver whose exceptions it does not know. */
  static final class ThrowsAsItsDriver extends BrokenStores.Broken {
    @Override
    void apply(Key key, Row row, Decision decision, boolean countedBefore) {
      if (decision instanceof Decision.Dead) {
        throw new IllegalStateException("no such column");
      }
      super.apply(key, row, decision, countedBefore);
    }
  }

  @Test
  @DisplayName("whatever a store throws is told with a story of a few lines")
  void throwsAnything() {
    assertThat(failures(ThrowsAsItsDriver.class))
        .singleElement()
        .satisfies(
            failure ->
                assertThat(failure.thrown().getMessage().lines())
                    .contains("the store threw java.lang.IllegalStateException: no such column")
                    .hasSizeLessThan(7));
  }

  @ParameterizedTest
  @DisplayName("each broken store is caught, with a story of at most eleven lines")
  @ValueSource(
      classes = {
        ForgetsDelays.class,
        RequeuesAtTheEnd.class,
        IgnoresBlockedKeys.class,
        StoresDuplicates.class,
        BrokenStores.CountsUnavailable.class,
        DropsTheUndecided.class,
        RenewsWhatItLost.class,
        BrokenStoresTest.NotFenced.class,
        BrokenStores.KeepsWhatIsRolledBack.class,
        BrokenStores.RemembersRolledBackDedupKeys.class,
        BrokenStores.LeasesMessages.class,
        BrokenStores.TidiesKeys.class,
        BrokenStores.TrimsKeys.class,
        BrokenStores.NormalizesKeys.class,
        BrokenStores.RefusesLateSettles.class,
        BrokenStores.SettlesWhatItLost.class,
        BrokenStores.ForgetsTheError.class,
        BrokenStores.StopsAtTheFirstFailure.class,
        BrokenStores.LosesWhatACrashedRelayHeld.class,
        BrokenStores.SkipsTheHeadAfterACrash.class,
        BrokenStores.BringsFollowersOfTheUnavailable.class,
        BrokenStores.LetsOthersPassTheUnavailable.class,
        BrokenStores.LetsLaterAppendsPassABlockedKey.class,
        BrokenStores.FreesAKeyByAnyDecision.class,
        BrokenStores.HoldsBackBehindDelayed.class,
      })
  void caught(Class<?> store) {
    List<Failure> failures = failures(store);
    assertThat(failures).as("what %s does", store.getSimpleName()).hasSize(1);
    String story = failures.get(0).thrown().getMessage();
    assertThat(failures.get(0).thrown()).isInstanceOf(AssertionError.class);
    assertThat(story).as("a story names its rule").matches("(?s)[ACSO]\\d: .*");
    assertThat(story)
        .as("the story of %s", store.getSimpleName())
        .contains("-Doutbox.properties.seed=");
    assertThat(story.lines().filter(line -> line.matches(" *\\d+\\. .*")))
        .as(story)
        .hasSizeLessThanOrEqualTo(11);
  }
}
