package dev.outbox.dev.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.dev.database.Work;
import dev.outbox.dev.database.Work.Appended;
import dev.outbox.dev.database.Work.Archived;
import dev.outbox.dev.database.Work.DeadLetter;
import dev.outbox.dev.database.Work.Kind;
import dev.outbox.dev.torture.Journal.Line;
import dev.outbox.dev.torture.Oracle.Delivery;
import dev.outbox.spi.store.ArchiveStore.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.assertj.core.api.AbstractStringAssert;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The oracle")
class OracleTest {
  private static final long SECOND = 1_000_000_000L;

  private final Appended first = committed("k", 1, Kind.PLAIN, null);
  private final Appended second = committed("k", 2, Kind.PLAIN, null);
  private final Appended delayed = committed("k", 3, Kind.DELAYED, null);
  private final Appended fourth = committed("k", 4, Kind.PLAIN, null);
  private final Oracle oracle = new Oracle(List.of(first, second, delayed, fourth));
  private final List<Line> lines = new ArrayList<>();

  private static Appended committed(String key, int nth, Kind kind, String dedup) {
    return new Appended(new Work(UUID.randomUUID(), key, nth, kind), dedup, false);
  }

  private static Appended refused(String dedup) {
    return new Appended(new Work(UUID.randomUUID(), "d", 1, Kind.PLAIN), dedup, true);
  }

  private static Delivery delivery(long offset, Appended one) {
    return new Delivery("t-0", offset, id(one), one.work().key(), one.work().nth());
  }

  private static UUID id(Appended one) {
    return one.work().id();
  }

  private static AbstractStringAssert<?> assertOnly(Oracle oracle) {
    return assertThat(oracle.violations).singleElement().asString();
  }

  private void line(String process, long at, String what, Object... details) {
    lines.add(
        new Line(process, at, what, List.of(details).stream().map(Object::toString).toList()));
  }

  @Test
  @DisplayName("is content with deliveries in order, again, and late where that is allowed")
  void content() {
    Set<UUID> delivered =
        oracle.compareDeliveries(
            List.of(
                delivery(0, first),
                delivery(1, second),
                delivery(2, first),
                delivery(3, second),
                delivery(4, fourth),
                delivery(5, delayed)));
    oracle.compareLost(delivered, List.of(), Set.of());
    assertThat(oracle.violations).isEmpty();
  }

  @Test
  @DisplayName("sees a message that was overtaken")
  void overtaken() {
    Set<UUID> ignored = oracle.compareDeliveries(List.of(delivery(0, second), delivery(1, first)));
    assertOnly(oracle).startsWith("out of order, after number 2");
  }

  @Test
  @DisplayName("sees what was never committed, and what came under another key")
  void leaked() {
    Appended stranger = committed("k", 9, Kind.PLAIN, null);
    Delivery other = new Delivery("t-0", 1, id(first), "other", 1);
    Set<UUID> ignored = oracle.compareDeliveries(List.of(delivery(0, stranger), other));
    assertThat(oracle.violations)
        .satisfiesExactly(
            one -> assertThat(one).startsWith("delivered, but never committed"),
            two -> assertThat(two).startsWith("delivered with another key"));
  }

  @Test
  @DisplayName("sees what was lost, unless it is a dead letter or was discarded")
  void lost() {
    oracle.compareLost(
        Set.of(id(first)), List.of(new DeadLetter(id(second), 2)), Set.of(id(delayed)));
    assertThat(oracle.violations).containsExactly("lost: " + fourth.work());
  }

  @Test
  @DisplayName("sees what expired and was delivered, or died, or was archived for another reason")
  void expired() {
    Appended over = committed("x", 1, Kind.EXPIRED, null);
    Oracle one = new Oracle(List.of(over));
    one.compareLost(Set.of(), List.of(), Set.of());
    one.compareArchive(
        List.of(new Archived(id(over), Outcome.EXPIRED)), List.of(), Set.of(), Set.of());
    assertThat(one.violations).isEmpty();
    one.compareLost(Set.of(id(over)), List.of(new DeadLetter(id(over), 1)), Set.of());
    assertThat(one.violations)
        .containsExactly(
            "delivered, though it had expired: " + over.work(),
            "dead, though it had expired: " + over.work());
    oracle.compareArchive(
        List.of(new Archived(id(first), Outcome.EXPIRED)),
        List.of(id(second), id(delayed), id(fourth)),
        Set.of(id(first)),
        Set.of());
    assertOnly(oracle).contains("a reason that is none");
  }

  @Test
  @DisplayName(
      "sees what the archive has twice, too early or not at all, and what nobody delivered")
  void archive() {
    UUID stranger = UUID.randomUUID();
    oracle.compareArchive(
        List.of(
            new Archived(id(first), Outcome.DELIVERED),
            new Archived(id(first), Outcome.DELIVERED),
            new Archived(id(second), Outcome.DELIVERED),
            new Archived(id(delayed), Outcome.DISCARDED),
            new Archived(stranger, Outcome.DELIVERED)),
        List.of(id(second)),
        Set.of(id(first), id(second), id(delayed)),
        Set.of());
    assertThat(oracle.violations)
        .satisfiesExactly(
            one -> assertThat(one).startsWith("archived twice").contains("" + id(first)),
            two -> assertThat(two).startsWith("archived, but still").contains("" + id(second)),
            three -> assertThat(three).contains("a reason that is none", "" + id(delayed)),
            four -> assertThat(four).contains("never committed", stranger + ""),
            five ->
                assertThat(five)
                    .isEqualTo("has left, but is not in the archive: " + fourth.work()));
  }

  @Test
  @DisplayName("is content with an archive that has once what has left")
  void archiveOfAll() {
    oracle.compareArchive(
        List.of(
            new Archived(id(first), Outcome.DELIVERED),
            new Archived(id(delayed), Outcome.DISCARDED),
            new Archived(id(fourth), Outcome.DELIVERED)),
        List.of(id(second)),
        Set.of(id(first), id(fourth)),
        Set.of(id(delayed)));
    assertThat(oracle.violations).isEmpty();
  }

  @Test
  @DisplayName("sees a decision that is not in the audit")
  void audit() {
    UUID id = id(first);
    line("torture", 1, "requeue", 7, id, true);
    line("torture", 2, "requeue", 7, id, true);
    line("torture", 3, "requeue", 7, id, false);
    line("torture", 4, "discard", 8, id, true);
    line("torture", 5, "cancel", 9, id, true);
    oracle.compareAudit(lines, List.of("requeue 7", "discard 8", "discard 9"));
    assertOnly(oracle).contains("not in the audit", "requeue");
  }

  @Test
  @DisplayName("sees what came although somebody was told that it was cancelled")
  void cancelled() {
    line("torture", 1, "cancel", 1, id(first), false);
    line("torture", 2, "cancel", 2, id(second), true);
    line("torture", 3, "cancel", 3, id(delayed), true);
    Set<UUID> delivered = Set.of(id(first), id(second));
    assertThat(oracle.compareCancelled(lines, delivered)).isEqualTo(2);
    assertOnly(oracle).startsWith("delivered, though it was cancelled").contains("" + id(second));
  }

  @Test
  @DisplayName("sees a commit that a producer was told of, and that is not there")
  void commits() {
    UUID gone = UUID.randomUUID();
    line("producer-1", 1, "committed", true, id(first) + "," + gone);
    line("producer-1", 2, "committed", false, UUID.randomUUID());
    oracle.compareCommits(lines);
    assertOnly(oracle).contains("producer-1", gone + "");
  }

  @Test
  @DisplayName("sees a dedup key that was stored twice, or refused for nothing")
  void duplicates() {
    Oracle twice =
        new Oracle(
            List.of(
                committed("a", 1, Kind.PLAIN, "d1"),
                committed("b", 1, Kind.PLAIN, "d1"),
                committed("c", 1, Kind.PLAIN, "d2"),
                refused("d2"),
                refused("d3")));
    twice.compareDuplicates();
    assertThat(twice.violations)
        .containsExactly(
            "stored twice: dedup key d1",
            "refused as a duplicate, but the first is not there: dedup key d3");
  }

  @Test
  @DisplayName("sees a record that no consumer got")
  void consumers() {
    line("consumer-1", 1, "got", "t-0", 0, id(first), "k");
    oracle.compareConsumers(lines, List.of(delivery(0, first), delivery(1, second)));
    assertOnly(oracle).contains("offset=1");
  }

  @Test
  @DisplayName("sees a key in two claims that were both accepted")
  void accepted() {
    // The first lease was over long ago; but nobody took over, as it seems from its settle.
    line("relay-1", 0, "claim", 1, 0, SECOND, "1|k,2|other");
    line("relay-2", 5 * SECOND, "claim", 1, 5 * SECOND, SECOND, "1|k");
    line("relay-1", 6 * SECOND, "settle", 1);
    line("relay-1", 6 * SECOND + 1, "settled", 1, "1,2");
    assertThat(oracle.compareClaims(lines)).isEqualTo(2);
    assertOnly(oracle).startsWith("key k is in two live claims");
  }

  @Test
  @DisplayName("sees a key that was claimed while another's lease lasted")
  void leased() {
    line("relay-1", 0, "unseen");
    line("relay-1", 1, "claim", 1, 0, SECOND, "1|k");
    line("relay-1", SECOND / 2, "renewed", 1, SECOND / 2, SECOND, "1");
    line("relay-2", SECOND + SECOND / 4, "claim", 1, SECOND, SECOND, "1|k");
    assertThat(oracle.compareClaims(lines)).isEqualTo(2);
    assertThat(oracle.violations).hasSize(1);
  }

  @Test
  @DisplayName("lets others have what a process held that was killed, and not while it lives")
  void killed() {
    line("relay-1", 1, "claim", 1, 0, 60 * SECOND, "1|k");
    line("relay-2", 5 * SECOND, "claim", 1, 5 * SECOND, SECOND, "1|k");
    assertThat(oracle.compareClaims(lines)).isEqualTo(2);
    assertThat(oracle.violations).isEmpty();
    line("relay-1", 9 * SECOND, "trouble", "settles-late");
    assertThat(oracle.compareClaims(lines)).isEqualTo(2);
    assertThat(oracle.violations).hasSize(1);
  }

  @Test
  @DisplayName("lets others have what was claimed before its process lost its session")
  void sessionLost() {
    line("relay-1", 1, "claim", 1, 0, 60 * SECOND, "1|k");
    line("relay-1", 4 * SECOND, "session-lost");
    line("relay-2", 5 * SECOND, "claim", 1, 5 * SECOND, SECOND, "1|k");
    line("relay-1", 9 * SECOND, "trouble", "settles-late");
    assertThat(oracle.compareClaims(lines)).isEqualTo(2);
    assertThat(oracle.violations).isEmpty();
    line("relay-1", 10 * SECOND, "claim", 2, 10 * SECOND, 60 * SECOND, "2|k");
    line("relay-2", 11 * SECOND, "claim", 2, 11 * SECOND, SECOND, "2|k");
    line("relay-1", 12 * SECOND, "trouble", "settles-late");
    assertThat(oracle.compareClaims(lines)).isEqualTo(4);
    assertThat(oracle.violations).hasSize(1);
  }

  @Test
  @DisplayName("asks for what was claimed until a second before its process noticed a lost session")
  void sessionLater() {
    line("relay-1", 1, "claim", 1, 0, 60 * SECOND, "1|k");
    line("relay-1", 5 * SECOND, "trouble", "settles-late");
    line("relay-1", 6 * SECOND, "session-lost");
    line("relay-2", 4 * SECOND, "claim", 1, 4 * SECOND, SECOND, "1|k");
    assertThat(oracle.compareClaims(lines)).isEqualTo(2);
    assertThat(oracle.violations).hasSize(1);
  }

  @Test
  @DisplayName("lets others have what was claimed when its process lost its session as it stood")
  void sessionLostWhileItStood() {
    line("relay-1", SECOND, "claim", 1, SECOND, 5 * SECOND, "1|k");
    line("relay-1", 2 * SECOND, "trouble", "hangs");
    line("relay-2", 4 * SECOND, "claim", 1, 4 * SECOND, SECOND, "1|k");
    line("relay-1", 8 * SECOND, "trouble", "settles-late");
    line("relay-1", 8 * SECOND + 1, "session-lost");
    assertThat(oracle.compareClaims(lines)).isEqualTo(2);
    assertThat(oracle.violations).isEmpty();
  }

  @Test
  @DisplayName("lets a claim end with its settle, its lease, or what was lost of it")
  void ended() {
    line("relay-1", 1, "claim", 1, 0, SECOND, "1|k");
    line("relay-1", 2, "settle", 1);
    line("relay-1", 9, "settled", 1, "1");
    line("relay-2", 3, "claim", 1, 2, SECOND, "2|k");
    line("relay-1", SECOND + 3, "claim", 2, SECOND + 2, SECOND, "2|k");
    line("relay-2", SECOND + 4, "settle", 1);
    line("relay-2", SECOND + 5, "settled", 1, "-");
    assertThat(oracle.compareClaims(lines)).isEqualTo(3);
    assertThat(oracle.violations).isEmpty();
  }

  @Test
  @DisplayName("sees a message that is claimed again after it was settled as delivered")
  void again() {
    line("relay-1", 1, "claim", 1, 0, SECOND, "1|k,2|k");
    line("relay-2", 3, "claim", 1, 2, SECOND, "1|k"); // asked for before
    line("relay-1", 3, "delivered", 1, "1");
    line("relay-2", 6, "claim", 2, 5, SECOND, "2|k");
    oracle.compareSettled(lines);
    assertThat(oracle.violations).isEmpty();
    line("relay-2", 6, "claim", 3, 5, SECOND, "1|k");
    line("relay-2", 7, "delivered", 3, "1");
    oracle.compareSettled(lines);
    assertThat(oracle.violations)
        .containsExactly("claimed by relay-2#3 after it was settled as delivered: sequence 1");
  }

  /** The process was stopped in the middle of it. */
  @Test
  @DisplayName("does not count a claim that is given when its lease is over already")
  void late() {
    line("relay-1", 3 * SECOND, "claim", 1, 0, SECOND, "1|k");
    line("relay-2", 2 * SECOND, "claim", 1, 2 * SECOND, 5 * SECOND, "1|k");
    assertThat(oracle.compareClaims(lines)).isEqualTo(2);
    assertThat(oracle.violations).isEmpty();
  }

  @Test
  @DisplayName("sees a dead letter that has not failed as often as it may")
  void reasons() {
    Appended doomed = committed("d", 1, Kind.DOOMED, null);
    Oracle one = new Oracle(List.of(first, doomed));
    List<DeadLetter> letters = List.of(new DeadLetter(id(first), 1));
    line("torture", 9, "letter", 2, id(doomed)); // and it was discarded
    line("relay-1", 2, "dead", 2);
    for (int call = 1; call <= 2; call++) {
      line("relay-1", call, "publish", call, "1,2");
      line("relay-1", call, "results", call, "1|Unavailable,2|Failed");
    }
    one.compareReasons(lines, letters);
    assertThat(one.violations)
        .satisfiesExactlyInAnyOrder(
            plain -> assertThat(plain).startsWith("dead after 0 failures, of 30: sequence 1"),
            other -> assertThat(other).startsWith("dead after 2 failures, of 3: sequence 2"));

    Oracle again = new Oracle(List.of(first, doomed));
    line("relay-1", 3, "publish", 3, "1,2");
    line("relay-1", 3, "results", 3, "1|Rejected,2|Failed");
    again.compareReasons(lines, letters);
    assertOnly(again).startsWith("rejected, though the broker takes it: sequence 1");
  }
}
