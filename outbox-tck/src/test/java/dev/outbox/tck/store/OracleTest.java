package dev.outbox.tck.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.internal.Oracle;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** An oracle that sees nothing would make every store look right. */
class OracleTest {
  private static final List<String> RULES = List.of("A1", "C1", "C2", "S2", "S4", "O1");

  private final Oracle oracle = new Oracle();
  private long sequence;

  private StoredMessage appended(String key) {
    OutboxMessage message = StoreTests.message(key).build();
    oracle.appending(message);
    return StoredMessage.of(++sequence, 0, Instant.EPOCH, message);
  }

  private StoredMessage committed(String key) {
    StoredMessage message = appended(key);
    oracle.committed(List.of(message.message()));
    return message;
  }

  private static Claim claim(StoredMessage... messages) {
    return new Claim() {
      @Override
      public List<StoredMessage> messages() {
        return List.of(messages);
      }

      @Override
      public Set<Long> renew(Duration lease) {
        return Set.of();
      }

      @Override
      public Set<Long> settle(Map<Long, Decision> decisions) {
        return Set.of();
      }
    };
  }

  /** Claimed, delivered and settled, from the one time to the other. */
  private void delivered(StoredMessage message, long from, long until) {
    Claim claim = claim(message);
    oracle.claimed(claim, from);
    oracle.delivering(message);
    oracle.settled(claim, from, until, Set.of(), Map.of(message.sequence(), Decision.delivered()));
  }

  private void assertNothing() {
    RULES.forEach(rule -> assertThat(oracle.violations(rule)).as(rule).isEmpty());
  }

  private void assertOnly(String rule, String says) {
    for (String other : RULES) {
      if (other.equals(rule)) {
        assertThat(oracle.violations(rule)).singleElement().asString().contains(says);
      } else {
        assertThat(oracle.violations(other)).as(other).isEmpty();
      }
    }
  }

  @Test
  @DisplayName("finds nothing where nothing is wrong")
  void nothing() {
    StoredMessage first = committed("k");
    StoredMessage second = committed("k");
    StoredMessage dead = committed("k");
    StoredMessage rolledBack = appended("k");
    oracle.notStored(List.of(rolledBack.message()));
    assertThat(oracle.open()).isEqualTo(3);
    delivered(first, 1, 2);
    delivered(second, 2, 3);
    oracle.delivering(first); // a repeated delivery is no violation
    Claim last = claim(dead);
    oracle.claimed(last, 3);
    oracle.settled(last, 3, 4, Set.of(), Map.of(dead.sequence(), Decision.dead("rejected")));
    assertThat(oracle.open()).isZero();
    assertNothing();
  }

  @Test
  @DisplayName("A1: claimed and rolled back")
  void leaked() {
    StoredMessage message = appended("k");
    oracle.claimed(claim(message), 1);
    oracle.notStored(List.of(message.message()));
    assertOnly("A1", "was claimed and not committed");
  }

  @Test
  @DisplayName("A1: claimed and never appended")
  void invented() {
    StoredMessage message = StoredMessage.of(1, 0, Instant.EPOCH, StoreTests.message("k").build());
    oracle.claimed(claim(message), 1);
    assertOnly("A1", "never appended");
  }

  @Test
  @DisplayName("C1: two claims of a key that overlap, and were both accepted")
  void overlap() {
    StoredMessage first = committed("k");
    StoredMessage second = committed("k");
    delivered(first, 10, 30);
    delivered(second, 20, 40);
    assertOnly("C1", "key order/k was in two live claims");
  }

  @Test
  @DisplayName("C1: an overlap is none when one of the two was told that it lost the key")
  void lost() {
    StoredMessage message = committed("k");
    Claim stale = claim(message);
    oracle.claimed(stale, 10);
    delivered(message, 20, 40);
    oracle.settled(stale, 10, 30, Set.of(message.sequence()), Map.of());
    assertNothing();
  }

  @Test
  @DisplayName("C2: a claim that is not in order")
  void unorderedClaim() {
    StoredMessage first = committed("k");
    StoredMessage second = committed("k");
    oracle.claimed(claim(second, first), 1);
    delivered(first, 1, 2);
    delivered(second, 2, 3);
    assertOnly("C2", "behind a later message");
  }

  @Test
  @DisplayName("S2: claimed again after it was settled as delivered")
  void comesAgain() {
    StoredMessage message = committed("k");
    delivered(message, 1, 2);
    oracle.claimed(claim(message), System.nanoTime() + 1);
    assertOnly("S2", "after it was settled");
  }

  @Test
  @DisplayName("S4: committed, and never delivered")
  void neverDelivered() {
    committed("k");
    assertThat(oracle.open()).isEqualTo(1);
    assertOnly("S4", "is lost");
  }

  @Test
  @DisplayName("O1: first deliveries out of order")
  void outOfOrder() {
    StoredMessage first = committed("k");
    StoredMessage second = committed("k");
    delivered(committed("other"), 1, 2);
    delivered(second, 1, 2);
    delivered(first, 2, 3);
    assertOnly("O1", "number 1 of key order/k was first delivered after number 2");
  }

  @Test
  @DisplayName("O1: a worker that stood still comes late with what is dead by then, told or not")
  void deadMeanwhile() {
    StoredMessage first = committed("k");
    StoredMessage second = committed("k");
    oracle.claimed(claim(first), 1);
    Claim other = claim(first);
    oracle.claimed(other, 2);
    delivered(second, 4, 5);
    oracle.delivering(first);
    oracle.settled(other, 2, 3, Set.of(), Map.of(first.sequence(), Decision.dead("rejected")));
    assertThat(oracle.open()).isZero();
    assertNothing();
  }

  @Test
  @DisplayName("refuses to be told of a commit that was not announced")
  void unannounced() {
    OutboxMessage message = StoreTests.message("k").build();
    assertThatThrownBy(() -> oracle.committed(List.of(message)))
        .hasMessageContaining(message.id().toString());
  }
}
