package dev.outbox.store.core.internal;

import static dev.outbox.store.core.internal.ClaimsTest.FOUR;
import static dev.outbox.store.core.internal.ClaimsTest.delivered;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** What a relay holds, and the claims of its workers, on a database that says what it is asked. */
abstract class HeldTests {
  final FakeDatabase database = new FakeDatabase(false);
  final HeldBuckets held;
  final HeldClaims<String> claims;
  long last;

  HeldTests(Duration unclaimed) {
    held = new HeldBuckets(unclaimed, () -> database.clock);
    claims = new HeldClaims<>(database.asked(), database.transactions, held, () -> database.clock);
  }

  @BeforeEach
  void show() {
    held.shown(true);
  }

  @AfterEach
  void nothingForbidden() {
    assertThat(database.misuse).isEmpty();
  }

  final void hold(int... buckets) {
    held.took(
        database.clock,
        IntStream.of(buckets).mapToObj(b -> database.take(b, held.claimId())).toList());
  }

  Claim claim() {
    return claims.claim(FOUR);
  }

  final Settled settle(Claim claim) {
    return claims.settleAndClaim(claim, delivered(claim), FOUR).orElseThrow();
  }

  final long add(int bucket) {
    database.add(bucket, ++last, false);
    return last;
  }

  /** What was asked since, without by whom. */
  final List<String> asked() {
    List<String> asked =
        database.asked.stream().map(each -> each.substring(each.indexOf(':') + 2)).toList();
    database.asked.clear();
    return asked;
  }
}
