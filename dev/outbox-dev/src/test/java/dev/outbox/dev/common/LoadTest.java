package dev.outbox.dev.common;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.cli.Failure;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class LoadTest {
  private final Semaphore gate = new Semaphore(1);
  private final AtomicInteger made = new AtomicInteger();

  private void transaction() throws InterruptedException {
    gate.acquire();
    gate.release();
    made.incrementAndGet();
  }

  @Test
  @DisplayName("clients make what is allowed, at its rate, and then wait for more")
  void allowed() throws InterruptedException {
    List<Load.Client> clients = Collections.nCopies(2, this::transaction);
    try (Load load = new Load("it", clients)) {
      load.allow(10, 1_000_000);
      await().until(load::done);
      assertThat(made).hasValue(10);

      gate.acquire(); // or they may be done before they are asked
      load.allow(12, 1_000_000);
      assertThat(load.done()).as("as soon as more is allowed").isFalse();
      gate.release();
      await().until(load::done);
      assertThat(made).hasValue(12);

      long begin = System.nanoTime();
      load.allow(20, 200);
      load.await();
      assertThat(made).hasValue(20);
      assertThat(System.nanoTime() - begin)
          .as("8 transactions at 200 a second, the first of them at once")
          .isGreaterThan(30_000_000);
    }
  }

  @Test
  @DisplayName("clients of several processes take turns")
  void turns() throws InterruptedException {
    try (Load load = new Load("it", List.of(this::transaction), 2, 3)) {
      load.allow(9, 1_000_000);
      load.await();
      assertThat(made).as("the numbers 2, 5 and 8").hasValue(3);
    }
  }

  @Test
  @DisplayName("what a client fails with is told")
  void failure() throws InterruptedException {
    Load.Client failing =
        () -> {
          throw new IllegalStateException("no table");
        };
    try (Load load = new Load("the order service", List.of(failing))) {
      load.allow(1, 1);
      assertThatThrownBy(load::await)
          .isInstanceOf(Failure.class)
          .hasMessage("the order service failed: no table");
    }
  }
}
