package dev.outbox.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** S6. */
abstract class PoisonTests<T> extends StoreTests<T> {
  private static final int SOME = 7;

  PoisonTests(OutboxStoreTck<T> tck) {
    super(tck);
  }

  @BeforeEach
  void unlock() {
    tck.fixture(FindsPoison.class);
  }

  /** A relay that claims and does not live to settle. */
  private StoredMessage crash() {
    Claim claim =
        await(
            "a claim after the lease of a crashed relay",
            () -> {
              Claim next = claim(100, soon());
              return next.messages().isEmpty() ? null : next;
            });
    return first(claim);
  }

  @Test
  @Rule("S6")
  @Sentence("after some crashes one message comes alone, and its attempts grow with each")
  void countsBeforePublishing() {
    committed("k", 3);
    long head = first(claim(100, soon())).sequence();
    for (int i = 0; i < SOME; i++) {
      assertThat(crash().sequence()).as("sequence of the head after a crash").isEqualTo(head);
    }
    int before = crash().attempts();
    Claim claim = awaitClaim("the suspected message");
    assertThat(claim.messages()).as("messages of a claim after many crashes").hasSize(1);
    assertThat(first(claim).attempts()).as("attempts after one more crash").isEqualTo(before + 1);
    assertThat(before).as("attempts after %d crashes", SOME).isGreaterThan(0);
  }

  @Test
  @Rule("S6")
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
    assertThat(first(claim).attempts()).as("attempts after unavailable").isEqualTo(attempts);
    settle(claim, Decision.retry(Duration.ZERO, "failed"));
    claim = awaitClaim("the message after a failed result");
    assertThat(first(claim).attempts()).as("attempts after failed").isEqualTo(attempts + 1);
    settle(claim, Decision.delivered());
    assertNothingDue("delivered at last");
  }

  @Test
  @Rule("S6")
  @Sentence("the key goes on once the suspected message is settled, and others are not suspected")
  void goesOn() {
    committed("k", 3);
    for (int i = 0; i < SOME; i++) {
      crash();
    }
    settle(awaitClaim("the suspected message"), Decision.dead("ends the process"));
    List<StoredMessage> rest = drain();
    assertThat(rest).as("messages behind the one that was suspected").hasSize(2);
    assertThat(rest).as("attempts of the others").allMatch(m -> m.attempts() == 0);
  }
}
