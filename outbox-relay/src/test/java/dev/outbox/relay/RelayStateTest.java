package dev.outbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.PermanentOutboxException;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.Finding;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class RelayStateTest {
  private Instant now = Instant.parse("2026-01-02T03:04:05Z");
  private long nanos;
  private final RelayState state = new RelayState(() -> now, () -> nanos);

  private void passes(Duration time) {
    now = now.plus(time);
    nanos += time.toNanos();
  }

  private void unavailable(long sequence, String error, String destination) {
    state.on(
        new RelayEvent.Unavailable(
            "w", Samples.stored(sequence, "1"), new Result.Unavailable(error, destination)));
  }

  @Test
  void aDestinationIsShownUntilTheMessageThatFoundItOutIsDelivered() {
    unavailable(1, "no leader", "order");
    unavailable(2, "still no leader", "order");
    unavailable(3, "no such topic", "bill");
    unavailable(4, "the broker is away", null);
    assertThat(state.unavailable())
        .containsExactly(
            new RelayState.Unavailable("bill", "no such topic", now),
            new RelayState.Unavailable("order", "still no leader", now));
    state.on(new RelayEvent.Delivered("w", Samples.stored(1, "1")));
    assertThat(state.unavailable()).hasSize(2);
    state.on(new RelayEvent.Delivered("w", Samples.stored(2, "1")));
    assertThat(state.unavailable())
        .extracting(RelayState.Unavailable::destination)
        .containsExactly("bill");
  }

  @Test
  void orUntilNobodySaysSoAnyMore() {
    unavailable(1, "no leader", "order");
    passes(RelayState.LASTS);
    assertThat(state.unavailable()).hasSize(1);
    passes(Duration.ofSeconds(1));
    assertThat(state.unavailable()).isEmpty();
  }

  @Test
  void whateverTheClockIsSetTo() {
    unavailable(1, "no leader", "order");
    failed("w/0", "claim", new TransientOutboxException("deadlock"));
    now = now.plus(Duration.ofDays(1));
    failed("w/0", "claim", new TransientOutboxException("deadlock"));
    assertThat(state.unavailable()).hasSize(1);
    assertThat(state.failing()).as("a moment later").isNull();
    passes(RelayState.LASTS.plusSeconds(1));
    now = now.minus(Duration.ofDays(2));
    failed("w/0", "claim", new TransientOutboxException("deadlock"));
    assertThat(state.unavailable()).isEmpty();
    assertThat(state.failing()).as("minutes later").isNotNull();
  }

  private void failed(String who, String operation, RuntimeException error) {
    state.on(new RelayEvent.StoreFailed(who, operation, error));
  }

  @Test
  void aStoreThatRefusesForGoodIsToldAtOnceUntilItIsPutRight() {
    failed("w/0", "claim", new PermanentOutboxException("no right"));
    failed("w/1", "claim", new PermanentOutboxException("no right"));
    assertThat(state.failing())
        .isEqualTo("nothing is published: claim fails since 2026-01-02T03:04:05Z: no right");
    passes(RelayState.PATIENCE.multipliedBy(2));
    state.on(new RelayEvent.StoreRecovered("w/0"));
    assertThat(state.failing()).isNotNull();
    state.on(new RelayEvent.StoreRecovered("w/1"));
    assertThat(state.failing()).isNull();
  }

  @Test
  void whatMayPassIsToldWhenItHasLasted() {
    failed("w/0", "settle", new TransientOutboxException("deadlock"));
    failed("w/1", "work", new IllegalStateException(new OutOfMemoryError("a test")));
    passes(RelayState.PATIENCE);
    failed("w/0", "claim", new TransientOutboxException("deadlock again"));
    assertThat(state.failing()).isNull();
    passes(Duration.ofSeconds(1));
    assertThat(state.failing())
        .isEqualTo("nothing is published: claim fails since 2026-01-02T03:04:05Z: deadlock again");
    passes(RelayState.PATIENCE);
    assertThat(state.failing()).as("while nothing is tried, as when the broker is away").isNull();
  }

  @Test
  void whatIsBesideTheWorkIsNoReason() {
    failed("w", "housekeep", new PermanentOutboxException("no right"));
    failed("w/0", "renew", new PermanentOutboxException("no right"));
    assertThat(state.failing()).isNull();
    failed("w/0", "claim", new PermanentOutboxException("no right"));
    state.on(new RelayEvent.Started("w", 1, null));
    assertThat(state.failing()).as("after a new start").isNull();
  }

  @Test
  void onlyWhatTheProcessCannotMendIsAProblem() {
    assertThat(state.findings(true)).allMatch(Finding::isFine);
    state.on(new RelayEvent.BreakerOpened("w", "connection refused"));
    unavailable(1, "no leader", "order");
    assertThat(state.findings(true))
        .containsExactly(
            Finding.fine("relay", "running"),
            Finding.warning("broker", "connection refused", null),
            Finding.warning("destination", "order cannot be reached: no leader", null));
    assertThat(state.findings(false).get(0).text())
        .isEqualTo("threads of the relay have ended, see the log: restart the process");
    failed("w/0", "claim", new PermanentOutboxException("no right"));
    assertThat(state.findings(true).get(0))
        .isEqualTo(Finding.problem("relay", String.valueOf(state.failing()), null));
  }

  @Test
  void ofVeryManySomeAreShown() {
    for (int i = 0; i < 1000; i++) {
      unavailable(i, "no leader", "topic" + i);
    }
    assertThat(state.unavailable()).hasSize(20);
  }

  @Test
  void oldOnesKeepNoNewOneOut() {
    for (int i = 0; i < 20; i++) {
      unavailable(i, "no leader", "topic" + i);
    }
    passes(RelayState.LASTS.plusSeconds(1));
    unavailable(20, "no leader", "order");
    assertThat(state.unavailable())
        .extracting(RelayState.Unavailable::destination)
        .containsExactly("order");
  }
}
