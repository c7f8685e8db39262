package dev.outbox.tck.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.function.Supplier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Stores that take times from the clock of their own machine are known by their classes. */
class ClockCallsTest {

  static class AsksInstant {
    Instant until(Duration lease) {
      return Instant.now().plus(lease);
    }
  }

  static class Inherits extends AsksInstant {}

  static class Leaves {
    Object made() {
      return new InALambda();
    }
  }

  static class InALambda {
    private final Supplier<Instant> now = Instant::now;

    Instant now() {
      return now.get();
    }
  }

  static class AsksAClock {
    Instant now(Clock clock) {
      return clock.instant();
    }
  }

  static class AsksForADate {
    Date now() {
      return new Date();
    }

    long millis() {
      return System.currentTimeMillis();
    }
  }

  /** Computes with what others say, and measures how long something took. */
  static class AsksNobody {
    private static final long LONG = 1L << 40;
    private static final double HALF = 0.5;

    Date until(Instant now, Duration lease) {
      return new Date(now.plus(lease).toEpochMilli());
    }

    double took(long begin) {
      return (System.nanoTime() - begin + LONG) * HALF;
    }
  }

  @Test
  @DisplayName("a class that asks, itself or by its superclass, a lambda or a class of its package")
  void asks() throws IOException {
    assertThat(ClockCalls.of(AsksInstant.class))
        .containsExactly("ClockCallsTest.AsksInstant calls Instant.now()");
    assertThat(ClockCalls.of(Inherits.class))
        .containsExactly("ClockCallsTest.AsksInstant calls Instant.now()");
    assertThat(ClockCalls.of(Leaves.class))
        .containsExactly("ClockCallsTest.InALambda calls Instant.now()");
    assertThat(ClockCalls.of(AsksAClock.class))
        .containsExactly("ClockCallsTest.AsksAClock calls Clock.instant()");
    assertThat(ClockCalls.of(AsksForADate.class))
        .containsExactly(
            "ClockCallsTest.AsksForADate calls System.currentTimeMillis()",
            "ClockCallsTest.AsksForADate calls new Date()");
  }

  @Test
  @DisplayName("one that computes with times that it is given does not ask")
  void asksNobody() throws IOException {
    assertThat(ClockCalls.of(AsksNobody.class)).isEmpty();
  }

  @Test
  @DisplayName("a class without a file is not called innocent")
  void noFile() {
    Object made =
        Proxy.newProxyInstance(
            getClass().getClassLoader(), new Class<?>[] {Supplier.class}, (p, m, a) -> null);
    assertThatThrownBy(() -> ClockCalls.of(made.getClass()))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("there is no class file of ");
  }
}
