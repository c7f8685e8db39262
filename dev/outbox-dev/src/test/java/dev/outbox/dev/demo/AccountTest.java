package dev.outbox.dev.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.dev.broker.Broker;
import dev.outbox.dev.database.Place.Effect;
import dev.outbox.dev.database.Work;
import dev.outbox.dev.database.Work.DeadLetter;
import dev.outbox.dev.database.Work.Kind;
import dev.outbox.dev.demo.Account.Shipment;
import dev.outbox.dev.demo.Account.Verdict;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Each kind of trouble is noticed, and only that kind. */
class AccountTest {
  private static final String KEY = "order-1";

  private final Account account = new Account();
  private final List<UUID> shipments = new ArrayList<>();
  private boolean ships = true;
  private long now = 1_000_000_000;

  private static Work work(int nth) {
    return new Work(UUID.randomUUID(), KEY, nth, Kind.PLAIN);
  }

  private UUID commit(int nth) {
    Work work = work(nth);
    account.committed(List.of(work), now);
    return work.id();
  }

  private void deliver(UUID... ids) {
    for (UUID id : ids) {
      now += 1_000_000;
      account.delivered(id, KEY, now);
      if (ships && !shipments.contains(id)) {
        shipments.add(id);
      }
    }
  }

  private Verdict verdict(UUID... dead) {
    Demo.Settings settings =
        new Demo.Settings(5, 1, 1, 5, 42, () -> null, Broker.Kind.KAFKA, null, false);
    List<DeadLetter> letters = Stream.of(dead).map(id -> new DeadLetter(id, 0)).toList();
    return account.verdict(letters, shipments(), settings, "");
  }

  private static void assertTrouble(
      Verdict verdict, long lost, long leaked, long disorder, long dead) {
    assertThat(
            Stream.of("lost", "leaked", "order violations", "dead letters")
                .map(row -> value(verdict, row)))
        .containsExactly(lost, leaked, disorder, dead);
    assertThat(verdict.good()).isEqualTo(lost + leaked + disorder + dead == 0);
  }

  /** As it is printed. */
  private static long value(Verdict verdict, String row) {
    StringWriter text = new StringWriter();
    verdict.print(new PrintWriter(text));
    return Pattern.compile("^  " + row + " +([\\d,]+)", Pattern.MULTILINE)
        .matcher(text.toString())
        .results()
        .map(found -> Long.valueOf(found.group(1).replace(",", "")))
        .findFirst()
        .orElseThrow();
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
    account.rolledBack();
    deliver(first, second, first);

    Verdict verdict = verdict();
    assertTrouble(verdict, 0, 0, 0, 0);
    assertThat(value(verdict, "committed")).isEqualTo(2);
    assertThat(value(verdict, "rolled back")).isEqualTo(1);
    assertThat(value(verdict, "delivered")).isEqualTo(2);
    assertThat(value(verdict, "duplicates")).isEqualTo(1);
  }

  @Test
  @DisplayName("what the consumer did twice, and what it did not do, is noticed")
  void effects() {
    UUID first = commit(1);
    deliver(first);
    ships = false;
    deliver(commit(2));
    assertThat(value(verdict(), "effects missing")).isEqualTo(1);
    assertThat(verdict().good()).isFalse();

    shipments.addAll(List.of(first, first));
    assertThat(value(verdict(), "effects")).isEqualTo(3);
    assertThat(value(verdict(), "effects twice")).isEqualTo(2);
    assertThat(verdict().good()).isFalse();
  }

  @Test
  @DisplayName("a delivery before its commit is told is well")
  void deliveredFirst() {
    Work work = work(1);
    deliver(work.id());
    account.committed(List.of(work), now + 1);
    assertTrouble(verdict(), 0, 0, 0, 0);
    assertThat(Verdict.percentile(account.times(), 99)).isZero();
  }

  @Test
  @DisplayName("what leaked, came out of order and is dead has a row each")
  void troubles() {
    UUID first = commit(1);
    UUID second = commit(2);
    UUID dead = commit(3);
    deliver(second, first, work(4).id());
    assertTrouble(verdict(dead), 0, 1, 1, 1);
  }

  @Test
  @DisplayName("a delayed message has no place in the order, but can be lost")
  void delayed() {
    Work late = new Work(UUID.randomUUID(), KEY, 1, Kind.DELAYED);
    Work lost = new Work(UUID.randomUUID(), KEY, 2, Kind.DELAYED);
    account.committed(List.of(late, lost), now);
    UUID third = commit(3);
    deliver(third, late.id());
    assertTrouble(verdict(), 1, 0, 0, 0);
    assertThat(Verdict.percentile(account.times(), 99)).isEqualTo(1);
  }

  @Test
  @DisplayName("quiet times have all that was committed since they began, however long it took")
  void quiet() {
    now = System.nanoTime() - 1_000_000_000;
    UUID before = commit(1);
    now += 50_000_000;
    deliver(before);
    account.quietFromNow();
    now = System.nanoTime();
    UUID quick = commit(2);
    deliver(quick);
    UUID slow = commit(3);
    now += 20_000_000;
    deliver(slow);
    assertThat(account.times().size()).isEqualTo(3);
    assertThat(Verdict.percentile(account.times(), 99)).isEqualTo(51);
    assertThat(account.quietTimes().size()).isEqualTo(2);
    assertThat(Verdict.percentile(account.quietTimes(), 50)).isEqualTo(1);
    assertThat(Verdict.percentile(account.quietTimes(), 99)).isEqualTo(21);
    assertThat(value(verdict(), "throughput")).as("of busy times: one in 51 ms").isEqualTo(20);
  }

  @Test
  @DisplayName("outstanding is what was committed and has not arrived")
  void outstanding() {
    UUID first = commit(1);
    UUID second = commit(2);
    account.rolledBack();
    assertThat(account.ledger.outstanding()).isEqualTo(2);
    deliver(second, second);
    assertThat(account.ledger.outstanding()).isEqualTo(1);
    deliver(first);
    assertThat(account.ledger.outstanding()).isZero();
  }
}
