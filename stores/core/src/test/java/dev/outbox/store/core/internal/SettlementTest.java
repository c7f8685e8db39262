package dev.outbox.store.core.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.core.internal.Database.Block;
import dev.outbox.store.core.internal.Database.Failure;
import dev.outbox.store.core.internal.Database.Key;
import dev.outbox.store.core.internal.Row.Claimable;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** On statements that write down what they were asked. */
@DisplayName("A settlement")
class SettlementTest {
  private static final Duration DELAY = Duration.ofMinutes(1);

  private final List<String> asked = new ArrayList<>();
  private final List<Failure> failures = new ArrayList<>();
  private final List<Block> blocks = new ArrayList<>();
  private final List<Key> advanced = new ArrayList<>();
  private final List<Claimable> deleted = new ArrayList<>();
  private boolean archives;

  /** The sequences of failures that are written by now. */
  private Set<Long> writtenBefore = Set.of();

  @SuppressWarnings("unchecked")
  private void settle(boolean counted, List<Claimable> rows, Map<Long, Decision> decisions) {
    Lease lease = Lease.begins(1, 1, Lease.STATELESS, false, false, counted, DELAY);
    Database<String> database =
        Fakes.database(
            (proxy, method, a) -> {
              if (method.getName().equals("archives")) {
                return archives;
              }
              boolean deletes = method.getName().equals("delete");
              Collection<?> what = (Collection<?>) a[deletes ? 2 : 1];
              String by = a.length > 2 && !deletes ? " by " + a[2] : "";
              asked.add(method.getName() + " " + what.size() + by);
              return switch (method.getName()) {
                case "fail" -> {
                  failures.addAll((List<Failure>) what);
                  yield Set.copyOf(
                      failures.stream()
                          .map(failure -> failure.row().sequence())
                          .filter(sequence -> !writtenBefore.contains(sequence))
                          .toList());
                }
                case "block" -> blocks.addAll((List<Block>) what);
                case "delete" -> {
                  deleted.addAll((Collection<Claimable>) what);
                  yield List.copyOf((Collection<Lease>) a[1]);
                }
                case "advance" -> advanced.addAll((Collection<Key>) what);
                default -> null;
              };
            });
    Collection<Lease> after =
        new Settlement<>(
                "handle", database, UUID.randomUUID(), new DecidedMessages(rows, decisions))
            .apply(List.of(lease));
    assertThat(after).as("the leases after it").containsExactly(lease);
  }

  private static Claimable row(long sequence, Status status, int attempts) {
    StoredMessage message =
        StoredMessage.undecodable(sequence, "k", null, attempts, Instant.EPOCH, "not read");
    return new Claimable(1, sequence, "k", status, sequence, message, null);
  }

  @Test
  @DisplayName("removes what expired as a dead letter without an attempt, and only once")
  void expired() {
    List<Claimable> rows = List.of(row(1, Status.BLOCKED, 2), row(2, Status.PENDING, 0));
    writtenBefore = Set.of(2L);
    settle(false, rows, Map.of(1L, Decision.expired(), 2L, Decision.expired()));
    assertThat(asked).containsExactly("fail 2", "expire 1", "advance 1");
    assertThat(failures.get(0).attemptsAfter()).isEqualTo(2);
    assertThat(failures).allMatch(failure -> failure.status() == Status.DEAD);
  }

  @Test
  @DisplayName("asks for a broker's answer only where there is an archive")
  void answers() {
    Decision delivered = Decision.delivered(() -> "orders-3@1742");
    List<Claimable> rows = List.of(row(1, Status.PENDING, 0));
    settle(false, rows, Map.of(1L, delivered));
    archives = true;
    settle(false, rows, Map.of(1L, delivered));
    assertThat(deleted).extracting(Claimable::answer).containsExactly(null, "orders-3@1742");
  }

  private static Decision retry() {
    return Decision.retry(DELAY, "refused");
  }

  private static Block block(long sequence, long lowSequence, Duration delay, boolean halted) {
    return new Block(1, "k", sequence, lowSequence, delay, halted);
  }

  @Test
  @DisplayName("of a key that got on and then failed lets it go on first, and then makes it wait")
  void gotOnAndFailed() {
    List<Claimable> rows = List.of(row(1, Status.BLOCKED, 0), row(2, Status.BLOCKED, 0));
    settle(false, rows, Map.of(1L, Decision.delivered(), 2L, retry()));
    assertThat(asked).containsExactly("delete 1", "fail 1", "advance 1", "block 1");
    assertThat(advanced).containsExactly(new Key(1, "k", 1));
    assertThat(blocks).containsExactly(block(2, 2, DELAY, false));
  }

  @Test
  @DisplayName("that is repeated undoes nothing of what its failures have written before (S1)")
  void repeated() {
    writtenBefore = Set.of(2L);
    List<Claimable> rows = List.of(row(1, Status.BLOCKED, 0), row(2, Status.BLOCKED, 0));
    settle(false, rows, Map.of(1L, Decision.delivered(), 2L, retry()));
    assertThat(asked).containsExactly("delete 1", "fail 1");
  }

  @Test
  @DisplayName("asks nothing of blocked keys when a message of a free one is delivered")
  void free() {
    settle(false, List.of(row(1, Status.PENDING, 0)), Map.of(1L, Decision.delivered()));
    assertThat(asked).containsExactly("delete 1");
  }

  @Test
  @DisplayName("of two blocks of a key keeps the halting one, read from the first message on (O3)")
  void together() {
    List<Claimable> rows = List.of(row(1, Status.PENDING, 0), row(2, Status.PENDING, 0));
    settle(false, rows, Map.of(1L, retry(), 2L, Decision.deadHaltingKey("rejected")));
    assertThat(blocks).containsExactly(block(2, 1, Duration.ZERO, true));

    blocks.clear();
    settle(false, rows, Map.of(1L, retry(), 2L, Decision.retry(Duration.ZERO, "x")));
    assertThat(blocks).as("of two retries, the head's").containsExactly(block(1, 1, DELAY, false));
  }

  @Test
  @DisplayName("counts attempts once, also where they were counted at the claim (S6)")
  void attempts() {
    List<Claimable> rows =
        List.of(row(1, Status.PENDING, 2), row(2, Status.PENDING, Integer.MAX_VALUE));
    Map<Long, Decision> decisions =
        Map.of(1L, retry(), 2L, Decision.retryUncounted(DELAY, "unavailable"));
    settle(false, rows, decisions);
    settle(true, rows, decisions);
    assertThat(failures)
        .extracting(Failure::attempts)
        .as("before")
        .containsExactly(2, Integer.MAX_VALUE, 3, Integer.MAX_VALUE);
    assertThat(failures)
        .extracting(Failure::attemptsAfter)
        .as("after")
        .containsExactly(3, Integer.MAX_VALUE, 3, Integer.MAX_VALUE);
    settle(true, List.of(row(1, Status.PENDING, 2)), Map.of(1L, uncounted()));
    assertThat(failures.get(4).attemptsAfter()).as("given back").isEqualTo(2);
  }

  private static Decision uncounted() {
    return Decision.retryUncounted(DELAY, "unavailable");
  }

  @Test
  @DisplayName("takes back the attempt of what got no decision, where it was counted (S6)")
  void undecided() {
    settle(true, List.of(row(1, Status.PENDING, 0)), Map.of());
    settle(false, List.of(row(1, Status.PENDING, 0)), Map.of());
    assertThat(asked).containsExactly("count 1 by -1");
  }
}
