package dev.outbox.tck.store;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Sentence;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;

@Rule("S6")
abstract class PoisonTests<T> extends StoreTests<T> {
  private static final int SOME = 7;

  @BeforeEach
  void unlock() {
    tck.fixture(FindsPoison.class);
  }

  /** A relay that claims and does not live to settle. */
  private StoredMessage crash() {
    return first(
        await("a claim after the lease of a crashed relay", () -> nonEmpty(claim(100, soon()))));
  }

  @Sentence(
      "after some crashes one comes alone, its attempts grow, and once it is settled the key goes on")
  void countsBeforePublishing() {
    committed("k", 3);
    long head = first(claim(100, soon())).sequence();
    for (int i = 0; i < SOME; i++) {
      expect("sequence of the head after a crash", crash().sequence()).isEqualTo(head);
    }
    int before = crash().attempts();
    Claim claim = awaitClaim("the suspected message");
    expect("messages of a claim after many crashes", claim.messages()).hasSize(1);
    expect("attempts after one more crash", first(claim).attempts()).isEqualTo(before + 1);
    expect("attempts after %s crashes".formatted(SOME), before).isGreaterThan(0);
    settle(claim, Decision.dead("ends the process"));
    List<StoredMessage> rest = drain();
    expect("messages behind the one that was suspected", rest).hasSize(2);
    expect("attempts of the others", rest).allMatch(m -> m.attempts() == 0);
  }

  @Sentence("an unavailable result gives the counted attempt back; a failed one counts once")
  void givesBack() {
    committed("k", 1);
    for (int i = 0; i < SOME; i++) {
      crash();
    }
    Claim claim = awaitClaim("the suspected message");
    int attempts = first(claim).attempts();
    settle(claim, Decision.retryUncounted(Duration.ZERO, "unavailable"));
    claim = awaitClaim("the message after an unavailable result");
    expect("attempts after unavailable", first(claim).attempts()).isEqualTo(attempts);
    settle(claim, Decision.retry(Duration.ZERO, "failed"));
    claim = awaitClaim("the message after a failed result");
    expect("attempts after failed", first(claim).attempts()).isEqualTo(attempts + 1);
    settle(claim, Decision.delivered());
    assertNothingDue("delivered at last");
  }
}
