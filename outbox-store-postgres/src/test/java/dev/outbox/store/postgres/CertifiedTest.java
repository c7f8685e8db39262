package dev.outbox.store.postgres;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.store.postgres.Certified.Holder;
import dev.outbox.store.postgres.Certified.Question;
import dev.outbox.store.postgres.Certified.Sample;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A sample of the sequence")
class CertifiedTest {
  private static final Duration PATIENCE = Duration.ofMillis(100);

  private long nanos;
  private final Certified certified = new Certified(() -> nanos, PATIENCE);

  private Sample begin(long next, long transaction) {
    return certified.begin("primary", next, transaction);
  }

  @Test
  @DisplayName("is certified by a read whose horizon is beyond its transaction")
  void certified() {
    Sample sample = begin(10, 101);
    assertThat(certified.afterRead(sample, 101)).as("101 may still be open").isZero();
    assertThat(certified.afterRead(sample, 102)).isEqualTo(10);
    assertThat(begin(12, 105).below()).as("known from now on").isEqualTo(10);
  }

  @Test
  @DisplayName("is certified by another transaction's read too, the highest of all that are over")
  void byAnother() {
    begin(10, 101);
    begin(30, 103);
    begin(20, 102);
    Sample reader = begin(40, 104);
    assertThat(certified.afterRead(reader, 104)).isEqualTo(30);
    assertThat(certified.afterRead(reader, 105)).isEqualTo(40);
  }

  @Test
  @DisplayName("that another read certified meanwhile says nothing of a read that was on its way")
  void meanwhile() {
    Sample onItsWay = begin(10, 101);
    Sample other = begin(20, 102);
    assertThat(certified.afterRead(other, 103)).isEqualTo(20);
    assertThat(certified.afterRead(onItsWay, 101)).isZero();
  }

  @Test
  @DisplayName("taken when the transaction had its id already is never certified")
  void idDrawnBefore() {
    Sample sample = begin(10, 0);
    assertThat(certified.afterRead(sample, 1_000)).isZero();
  }

  @Test
  @DisplayName("counts in its own history only")
  void otherHistory() {
    Sample old = begin(10, 101);
    assertThat(certified.afterRead(old, 102)).isEqualTo(10);
    Sample before = begin(15, 103);
    Sample fresh = certified.begin("new primary", 7, 3);
    assertThat(fresh.below()).isZero();
    assertThat(certified.afterRead(before, 1_000)).as("what it knew itself").isEqualTo(10);
    assertThat(certified.afterRead(fresh, 3)).as("nothing of the old ones waits").isZero();
    assertThat(certified.afterRead(fresh, 4)).isEqualTo(7);
  }

  @Test
  @DisplayName("below what is certified says that the sequence was set back")
  void setBack() {
    assertThat(certified.afterRead(begin(10, 101), 102)).isEqualTo(10);
    begin(12, 103);
    assertThat(begin(9, 104).below()).isZero();
    assertThat(certified.afterRead(begin(9, 0), 104)).as("12 is forgotten").isZero();
  }

  @Test
  @DisplayName("waits behind a writer that stays open, with no more than some others")
  void bounded() {
    Sample last = begin(10, 101);
    for (int i = 1; i < 1_000; i++) {
      last = begin(10 + i, 101 + i);
    }
    assertThat(certified.afterRead(last, 2_000)).as("the oldest").isEqualTo(10 + 63);
    assertThat(certified.afterRead(begin(5_000, 3_000), 3_001)).isEqualTo(5_000);
  }

  // ---- beside a transaction that stays open

  private static Set<Holder> holders(String... transactions) {
    return Stream.of(transactions).map(t -> new Holder(t, false)).collect(toSet());
  }

  /** 100 stays open; a sample has waited so long that the holders of locks are asked for. */
  private void stuck() {
    Sample sample = begin(10, 101);
    nanos += PATIENCE.toNanos();
    assertThat(certified.question(sample)).as("nothing has been read since").isEmpty();
    assertThat(certified.afterRead(sample, 100)).isZero();
  }

  private Question ask(long next) {
    nanos += PATIENCE.toNanos();
    return certified.question(begin(next, 0)).orElseThrow();
  }

  @Test
  @DisplayName("is not certified by locks while the horizon comes in time")
  void inTime() {
    Sample sample = begin(10, 101);
    nanos += PATIENCE.toNanos() - 1;
    assertThat(certified.afterRead(sample, 100)).isZero();
    assertThat(certified.question(sample)).isEmpty();
    nanos += 1;
    assertThat(certified.question(sample)).isPresent();
    assertThat(certified.question(sample)).as("once in a while").isEmpty();
    nanos += PATIENCE.toNanos();
    assertThat(certified.question(sample)).isPresent();
    assertThat(certified.afterRead(sample, 102)).isEqualTo(10);
    nanos += PATIENCE.toNanos();
    assertThat(certified.question(sample)).as("nothing waits").isEmpty();
  }

  @Test
  @DisplayName("is certified by locks at once where nobody has one")
  void noHolders() {
    stuck();
    certified.answered(ask(20), Set.of());
    assertThat(certified.known().below()).isEqualTo(20);
  }

  @Test
  @DisplayName("is certified by locks when all are over who had one, whoever has come since")
  void holders() {
    stuck();
    certified.answered(ask(20), holders("a", "b"));
    assertThat(certified.known().below()).isZero();
    certified.answered(ask(30), holders("b", "c"));
    assertThat(certified.known().below()).isZero();
    certified.answered(ask(40), holders("c", "d"));
    assertThat(certified.known().below()).as("of when a and b were found").isEqualTo(20);
    certified.answered(ask(50), holders("d"));
    assertThat(certified.known().below()).as("c and d were found at 40").isEqualTo(20);
    certified.answered(ask(60), Set.of());
    assertThat(certified.known().below()).isEqualTo(60);
  }

  @Test
  @DisplayName("waits for one that was found and is prepared now, whatever its id is then")
  void prepared() {
    stuck();
    certified.answered(ask(20), holders("3/15"));
    certified.answered(ask(30), Set.of(new Holder("-1/700", true)));
    assertThat(certified.known().below()).isZero();
    certified.answered(ask(40), Set.of());
    assertThat(certified.known().below()).isEqualTo(40);
  }

  @Test
  @DisplayName("is not certified by an answer that was late")
  void lateAnswer() {
    stuck();
    Question late = ask(20);
    certified.answered(ask(30), holders("began since"));
    certified.answered(late, Set.of());
    assertThat(certified.known().below()).isZero();
  }

  @Test
  @DisplayName("is not certified by locks of another history")
  void locksOfAnotherHistory() {
    stuck();
    certified.answered(ask(20), holders("a"));
    Question old = ask(30);
    Sample fresh = certified.begin("new primary", 7, 3);
    certified.answered(old, Set.of());
    assertThat(certified.known().below()).isZero();
    nanos += PATIENCE.toNanos();
    assertThat(certified.afterRead(fresh, 2)).isZero();
    certified.answered(certified.question(fresh).orElseThrow(), Set.of());
    assertThat(certified.known().below()).as("nothing of a is left").isEqualTo(7);
  }
}
