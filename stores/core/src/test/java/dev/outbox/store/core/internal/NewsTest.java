package dev.outbox.store.core.internal;

import static dev.outbox.store.core.internal.ClaimsTest.FOUR;
import static dev.outbox.store.core.internal.ClaimsTest.delivered;
import static dev.outbox.store.core.internal.ClaimsTest.sequences;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.Claim;
import dev.outbox.store.core.internal.AppendReport.Candidate;
import dev.outbox.store.core.internal.FakeDatabase.Trouble;
import dev.outbox.store.core.internal.HeldBuckets.Found;
import dev.outbox.store.core.internal.Row.Claimable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("What another relay announces")
class NewsTest extends HeldTests {
  /** The buckets of each look. */
  private final List<List<Integer>> looks = new ArrayList<>();

  NewsTest() {
    super(Duration.ofMinutes(1));
  }

  @BeforeEach
  void holdThree() {
    database.mostDeletedWithLock = 4;
    hold(1, 2, 3);
    database.afterLook = leases -> looks.add(leases.stream().map(Lease::bucket).toList());
    lookAtAll();
  }

  private void lookAtAll() {
    assertThat(claim().messages()).isEmpty();
    assertThat(looks).containsExactly(List.of(1, 2, 3));
    looks.clear();
  }

  private static void settle(HeldClaims<String> claims, Claim claim) {
    assertThat(claims.settleAndClaim(claim, delivered(claim), FOUR).orElseThrow().lost()).isEmpty();
  }

  private void announce(long sequence, int bucket) {
    held.heard(new Announcement(Map.of(sequence, bucket)));
  }

  @Test
  @DisplayName("is looked for where it is, and is known to be durable")
  void where() {
    database.looksAreDurable = false;
    announce(add(2), 2);
    assertThat(held.haveNews()).isTrue();
    database.asked.clear();
    Claim claim = claim();
    assertThat(sequences(claim)).containsExactly(last);
    assertThat(looks).containsExactly(List.of(2));
    assertThat(database.asked).as("nothing to be prolonged").hasSize(1);
    assertThat(claim.pollAgain()).isFalse();
    settle(claims, claim);
    assertThat(held.haveNews()).isFalse();
  }

  @Test
  @DisplayName("says nothing of what else is there")
  void others() {
    database.looksAreDurable = false;
    long unknown = add(2);
    announce(add(2), 2);
    Claim claim = claim();
    assertThat(sequences(claim)).containsExactly(unknown, last);
    assertThat(database.asked).anyMatch(asked -> asked.endsWith("makeDurable"));
  }

  @Test
  @DisplayName("waits while a worker has its bucket, unless that worker finds it")
  void inHand() {
    announce(add(2), 2);
    database.afterLook = leases -> announce(last, 2);
    Claim claim = claim();
    assertThat(sequences(claim)).containsExactly(last);
    assertThat(claim.pollAgain()).as("it was found").isFalse();
    announce(add(2), 2);
    assertThat(held.haveNews()).as("for another worker").isFalse();
    Claim next = settle(claim).next();
    assertThat(sequences(next)).containsExactly(last);
  }

  @Test
  @DisplayName("does not keep claims from looking everywhere for what nobody announces")
  void unannounced() {
    announce(add(1), 1);
    settle(claims, claim());
    long silent = add(3);
    database.clock += Duration.ofMillis(50).toNanos();
    announce(add(2), 2);
    Claim claim = claim();
    assertThat(sequences(claim)).containsExactly(silent, last);
    assertThat(looks).containsExactly(List.of(1), List.of(1, 2, 3));
  }

  @Test
  @DisplayName("spares a look to who comes for what another worker has taken")
  void takenByAnother() {
    announce(add(2), 2);
    Claim claim = claim();
    looks.clear();
    add(3); // nobody announces it
    assertThat(claim().messages()).isEmpty();
    assertThat(looks).isEmpty();
    settle(claims, claim);
    assertThat(sequences(claim())).containsExactly(last);
    assertThat(looks).containsExactly(List.of(1, 2, 3));
  }

  @Test
  @DisplayName("spares no look for what was given back (S3)")
  void givenBack() {
    announce(add(2), 2);
    Claim another = claim();
    announce(add(1), 1);
    Claim claim = claim();
    assertThat(sequences(claim)).containsExactly(last);
    assertThat(claim.settle(Map.of())).isEmpty();
    assertThat(sequences(claim())).containsExactly(last);
    settle(claims, another);
  }

  @Test
  @DisplayName("is looked for also in buckets that workers have, when it does not say where")
  void anywhereInHand() {
    announce(add(2), 2);
    Claim claim = claim();
    add(2);
    held.heard(Announcement.ANYTHING);
    assertThat(claim().messages()).isEmpty();
    assertThat(looks).containsExactly(List.of(2), List.of(1, 3));
    Claim next = settle(claim).next();
    assertThat(sequences(next)).containsExactly(last);
  }

  @Test
  @DisplayName("wakes nobody while a worker has its bucket, which looks for it when it has settled")
  void wakesNobody() {
    announce(add(2), 2);
    Claim claim = claim();
    assertThat(held.heard(new Announcement(Map.of(add(2), 2)))).isFalse();
    looks.clear();
    Claim next = settle(claim).next();
    assertThat(sequences(next)).containsExactly(last);
    assertThat(looks).containsExactly(List.of(2));
  }

  @Test
  @DisplayName("is for the next holder, where the lease was lost while a worker had it")
  void lost() {
    announce(add(2), 2);
    Claim claim = claim();
    database.lose(2);
    assertThat(settle(claim).lost()).hasSize(1);
    Announcement there = new Announcement(Map.of(9L, 2));
    assertThat(held.heard(there)).isFalse();
    assertThat(held.committed(1, new AppendReport(List.of(), there)).elsewhere())
        .isEqualTo(there.buckets());
  }

  @Test
  @DisplayName("and what is handed over take turns")
  void turns() {
    announce(add(2), 2);
    AppendReport alone =
        new AppendReport(
            List.of(new Candidate((Claimable) FakeDatabase.row(1, 8, false), 1, held.claimId())),
            new Announcement(Map.of(8L, 1)));
    assertThat(held.committed(1, alone).handed()).isEqualTo(1);
    assertThat(sequences(claim())).containsExactly(8L);
    assertThat(held.committed(1, alone).handed()).as("it waits for the lease").isEqualTo(1);
    held.took(database.clock, List.of(database.take(3, held.claimId())));
    AppendReport other =
        new AppendReport(
            List.of(new Candidate((Claimable) FakeDatabase.row(3, 9, false), 2, held.claimId())),
            new Announcement(Map.of(9L, 3)));
    assertThat(held.committed(1, other).handed()).isEqualTo(1);
    assertThat(sequences(claim()))
        .as("not behind another one that was handed over")
        .containsExactly(last);
    assertThat(sequences(claim())).containsExactly(9L);
  }

  @Test
  @DisplayName("is nothing to a relay that does not hold its bucket")
  void notHeld() {
    announce(add(4), 4);
    assertThat(held.haveNews()).isFalse();
    assertThat(held.heard(new Announcement(Map.of(last, 4)))).isFalse();
    announce(add(2), 2);
    assertThat(held.give(List.of(2))).hasSize(1);
    assertThat(held.haveNews()).isFalse();
    Found found =
        held.committed(2, new AppendReport(List.of(), new Announcement(Map.of(7L, 4, 8L, 1))));
    assertThat(found).isEqualTo(new Found(0, 1, Map.of(7L, 4)));
  }

  @Test
  @DisplayName("is looked for everywhere when it does not say where, is too much, or a look failed")
  void anywhere() {
    held.heard(Announcement.ANYTHING);
    lookAtAll();
    for (long round = 0; round < 11; round++) {
      Map<Long, Integer> many = new HashMap<>();
      LongStream.range(round * 100, round * 100 + 100).forEach(sequence -> many.put(sequence, 1));
      held.heard(new Announcement(many));
    }
    lookAtAll();
    announce(add(2), 2);
    database.troubles.add(Trouble.ROLLBACK);
    assertThatThrownBy(this::claim).isInstanceOf(TransientOutboxException.class);
    looks.clear();
    assertThat(sequences(claim())).containsExactly(last);
    assertThat(looks.get(0)).hasSize(3);
  }

  @Test
  @DisplayName("is a hint: any text is read, and too much says nothing")
  void text() {
    Announcement some = new Announcement(Map.of(1L, 2, 30_000_000_000L, 63));
    assertThat(Announcement.of(some.text())).isEqualTo(some);
    for (String text : List.of("", "x", "1", "1:", ":1", "1:2:3", "99999999999999999999:1")) {
      assertThat(Announcement.of(text)).as(text).isEqualTo(Announcement.ANYTHING);
    }
    Map<Long, Integer> many = new HashMap<>();
    LongStream.rangeClosed(1, 100).forEach(n -> many.put(Long.MAX_VALUE - n, 63));
    Announcement most = new Announcement(many);
    assertThat(most.text().length()).isLessThan(2_500);
    assertThat(most.and(some)).isEqualTo(Announcement.ANYTHING);
    assertThat(most.and(Announcement.ANYTHING).isAnything()).isTrue();
  }
}
