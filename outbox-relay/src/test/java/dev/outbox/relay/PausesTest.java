package dev.outbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class PausesTest {
  private final AtomicLong clock = new AtomicLong(-5);
  private final Pauses pauses = new Pauses(Duration.ofMillis(500), () -> 0, clock::get);

  private Duration next() {
    return Duration.ofNanos(pauses.next());
  }

  private void later(Duration time) {
    clock.addAndGet(time.toNanos());
  }

  @Test
  void doubleFromAMillisecondAndStayShortWhileThereIsWork() {
    assertThat(next()).isEqualTo(Duration.ofMillis(1));
    assertThat(next()).isEqualTo(Duration.ofMillis(2));
    assertThat(next()).isEqualTo(Duration.ofMillis(4));
    assertThat(next()).isEqualTo(Duration.ofMillis(8));
    for (int i = 0; i < 20; i++) {
      assertThat(next()).isEqualTo(Duration.ofMillis(14));
    }
    pauses.worked();
    assertThat(next()).isEqualTo(Duration.ofMillis(1));
    pauses.expectWork();
    assertThat(next()).isEqualTo(Duration.ofMillis(1));
  }

  @Test
  void growWithTheTimeThatNothingHappenedUpToTheIdlePause() {
    for (int i = 0; i < 20; i++) {
      long ignored = pauses.next();
    }
    later(Duration.ofSeconds(5));
    next();
    next();
    next();
    assertThat(next()).isEqualTo(Duration.ofMillis(100));
    later(Duration.ofSeconds(5));
    assertThat(next()).isEqualTo(Duration.ofMillis(200));
    later(Duration.ofMinutes(1));
    next();
    next();
    assertThat(next()).isEqualTo(Duration.ofMillis(500));
    pauses.worked();
    assertThat(next()).isEqualTo(Duration.ofMillis(1));
  }

  @Test
  void aMinuteOfNothingLeavesTwoPollsASecond() {
    Duration idle = Duration.ZERO;
    int polls = 0;
    int inTheLastMinute = 0;
    while (idle.compareTo(Duration.ofMinutes(2)) < 0) {
      Duration pause = next();
      idle = idle.plus(pause);
      later(pause);
      polls++;
      inTheLastMinute += idle.compareTo(Duration.ofMinutes(1)) > 0 ? 1 : 0;
    }
    assertThat(inTheLastMinute).isLessThanOrEqualTo(121);
    assertThat(polls).isLessThan(600);
  }

  @Test
  void neverAreLongerThanTheIdlePause() {
    Pauses shortOnes = new Pauses(Duration.ofNanos(3), () -> 0, clock::get);
    assertThat(shortOnes.next()).isEqualTo(3);
    later(Duration.ofHours(1));
    assertThat(shortOnes.next()).isEqualTo(3);
  }

  @Test
  void chanceTakesOffAtMostAFifth() {
    Pauses shorter = new Pauses(Duration.ofMillis(500), () -> 1, clock::get);
    assertThat(shorter.next()).isEqualTo(800_000);
    assertThat(shorter.next()).isEqualTo(1_600_000);
    assertThat(new Pauses(Duration.ofNanos(1), () -> 1, clock::get).next()).isEqualTo(1);
  }
}
