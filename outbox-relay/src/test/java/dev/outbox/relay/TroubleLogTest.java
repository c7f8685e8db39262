package dev.outbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class TroubleLogTest {
  private final AtomicLong clock = new AtomicLong(Duration.ofHours(1).toNanos());
  private final TroubleLog troubles = new TroubleLog(clock::get);

  private void later(Duration time) {
    clock.addAndGet(time.toNanos());
  }

  @Test
  void saysSecondsUpToTwoMinutes() {
    troubles.reported("a");
    troubles.reported("b");
    later(Duration.ofSeconds(119));
    assertThat(troubles.ended("a")).isEqualTo("after 119 s and 1 try");
    later(Duration.ofSeconds(1));
    assertThat(troubles.ended("b")).isEqualTo("after 2 min and 1 try");
    assertThat(troubles.ended("b")).isNull();
  }

  @Test
  void forgetsWhatWasNotReportedForAQuarterOfAnHour() {
    troubles.reported("a");
    later(Duration.ofMinutes(15));
    troubles.reported("b");
    assertThat(troubles.lasts("a")).isTrue();
    later(Duration.ofNanos(1));
    troubles.reported("b");
    assertThat(troubles.lasts("a")).isFalse();
    assertThat(troubles.lasts("b")).isTrue();
  }
}
