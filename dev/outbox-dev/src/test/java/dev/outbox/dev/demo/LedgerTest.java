package dev.outbox.dev.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.dev.database.Place.Effect;
import dev.outbox.dev.demo.Ledger.Shipment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Each kind of trouble is noticed, and only that kind. */
class LedgerTest {
  private static final String KEY = "order-1";

  private final Ledger ledger = new Ledger();
  private final List<UUID> shipments = new ArrayList<>();
  private boolean ships = true;
  private long now = 1_000_000_000;

  private UUID append(long version, int index, boolean delayed, boolean repeated) {
    UUID id = UUID.randomUUID();
    ledger.appended(id, KEY, version, index, delayed, repeated);
    return id;
  }

  private UUID commit(long version) {
    UUID id = append(version, 0, false, false);
    ledger.committed(List.of(id), now);
    return id;
  }

  private void deliver(UUID... ids) {
    for (UUID id : ids) {
      now += 1_000_000;
      ledger.delivered(id, KEY, now);
      if (ships && !shipments.contains(id)) {
        shipments.add(id);
      }
    }
  }

  private Verdict verdict() {
    return ledger.verdict(Set.of(), shipments());
  }

  private static void assertTrouble(
      Verdict verdict, long lost, long leaked, long disorder, long dead) {
    assertThat(
            List.of(
                verdict.lost(), verdict.leaked(), verdict.orderViolations(), verdict.deadLetters()))
        .as("lost, leaked, order violations, dead letters")
        .containsExactly(lost, leaked, disorder, dead);
    assertThat(verdict.good()).isEqualTo(lost + leaked + disorder + dead == 0);
  }

  private List<Effect> shipments() {
    return shipments.stream()
        .map(id -> new Effect(Shipment.SHIPPED.name(), id.toString()))
        .toList();
  }

  @Test
  @DisplayName("all is well: in order, rolled back stays away, a duplicate is allowed")
  void good() {
    UUID first = commit(1);
    UUID second = commit(2);
    UUID rolledBack = append(3, 0, false, false);
    ledger.rolledBack(List.of(rolledBack));
    deliver(first, second, first);

    Verdict verdict = verdict();
    assertTrouble(verdict, 0, 0, 0, 0);
    assertThat(verdict.commits()).isEqualTo(2);
    assertThat(verdict.rollbacks()).isEqualTo(1);
    assertThat(verdict.messages()).isEqualTo(2);
    assertThat(verdict.delivered()).isEqualTo(2);
    assertThat(verdict.duplicates()).isEqualTo(1);
  }

  @Test
  @DisplayName("what the consumer did twice, and what it did not do, is noticed")
  void effects() {
    UUID first = commit(1);
    deliver(first);
    ships = false;
    deliver(commit(2));
    assertThat(verdict().effectsMissing()).isEqualTo(1);
    assertThat(verdict().good()).isFalse();

    shipments.addAll(List.of(first, first));
    assertThat(verdict().effects()).isEqualTo(3);
    assertThat(verdict().effectsTwice()).isEqualTo(2);
    assertThat(verdict().good()).isFalse();
  }

  @Test
  @DisplayName("a delivery before its commit is told is well")
  void deliveredFirst() {
    UUID id = append(1, 0, false, false);
    deliver(id);
    ledger.committed(List.of(id), now + 1);
    assertTrouble(verdict(), 0, 0, 0, 0);
    assertThat(Verdict.percentile(verdict().all(), 99)).isZero();
  }

  @Test
  @DisplayName("a dead letter is dead, not lost")
  void dead() {
    UUID id = commit(1);
    assertTrouble(ledger.verdict(Set.of(id), shipments()), 0, 0, 0, 1);
  }

  @Test
  @DisplayName("rolled back and delivered: leaked")
  void leaked() {
    UUID id = append(1, 0, false, false);
    ledger.rolledBack(List.of(id));
    deliver(id);
    assertTrouble(verdict(), 0, 1, 0, 0);
  }

  @Test
  @DisplayName("a repeated dedup key that is delivered: leaked; that is not: well")
  void repeated() {
    UUID refused = append(1, 0, false, true);
    UUID stored = append(1, 1, false, true);
    ledger.committed(List.of(refused, stored), now);
    deliver(stored);
    assertTrouble(verdict(), 0, 1, 0, 0);
  }

  @Test
  @DisplayName("two versions swapped: one order violation")
  void swapped() {
    UUID first = commit(1);
    UUID second = commit(2);
    UUID third = commit(3);
    deliver(second, first, third);
    assertTrouble(verdict(), 0, 0, 1, 0);
  }

  @Test
  @DisplayName("a delayed message has no place in the order, but can be lost")
  void delayed() {
    UUID late = append(1, 0, true, false);
    UUID lost = append(1, 1, true, false);
    ledger.committed(List.of(late, lost), now);
    UUID second = commit(2);
    deliver(second, late);
    assertTrouble(verdict(), 1, 0, 0, 0);
    assertThat(Verdict.percentile(verdict().all(), 99)).isEqualTo(1);
  }

  @Test
  @DisplayName("quiet times have all that was committed since they began, however long it took")
  void quiet() {
    now = System.nanoTime() - 1_000_000_000;
    UUID before = commit(1);
    now += 50_000_000;
    deliver(before);
    ledger.quietFromNow();
    now = System.nanoTime();
    UUID quick = commit(2);
    deliver(quick);
    UUID slow = commit(3);
    now += 20_000_000;
    deliver(slow);
    Verdict verdict = verdict();
    assertThat(verdict.all().size()).isEqualTo(3);
    assertThat(Verdict.percentile(verdict.all(), 99)).isEqualTo(51);
    assertThat(verdict.quiet().size()).isEqualTo(2);
    assertThat(Verdict.percentile(verdict.quiet(), 50)).isEqualTo(1);
    assertThat(Verdict.percentile(verdict.quiet(), 99)).isEqualTo(21);
    assertThat(verdict.throughput()).as("of busy times: one in 51 ms").isBetween(19.0, 20.0);
  }

  @Test
  @DisplayName("outstanding is what was committed, is no repeat, and has not arrived")
  void outstanding() {
    UUID first = commit(1);
    UUID second = commit(2);
    ledger.rolledBack(List.of(append(3, 0, false, false)));
    ledger.committed(List.of(append(4, 0, false, true)), now);
    append(5, 0, false, false);
    assertThat(ledger.outstanding()).isEqualTo(2);
    deliver(second, second);
    assertThat(ledger.outstanding()).isEqualTo(1);
    deliver(first);
    assertThat(ledger.outstanding()).isZero();
  }
}
