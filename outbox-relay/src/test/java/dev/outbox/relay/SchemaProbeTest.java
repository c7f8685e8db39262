package dev.outbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.Finding.Severity;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A probe of the schema")
class SchemaProbeTest {
  private final AtomicInteger questions = new AtomicInteger();

  private SchemaProbe probe(Runnable verify, Duration patience) {
    FakeSchema schema =
        () -> {
          int ignored = questions.incrementAndGet();
          verify.run();
        };
    return new SchemaProbe(schema, patience);
  }

  @Test
  @DisplayName("gives up on a database that hangs, and asks it once for all who ask meanwhile")
  void hangs() throws InterruptedException {
    CountDownLatch answers = new CountDownLatch(1);
    CountDownLatch answered = new CountDownLatch(1);
    SchemaProbe probe =
        probe(
            () -> {
              try {
                answers.await();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
              answered.countDown();
            },
            Duration.ofMillis(1));
    for (int i = 0; i < 3; i++) {
      assertThat(probe.ask().text()).contains("does not answer");
    }
    assertThat(questions).hasValue(1);
    answers.countDown();
    answered.await();
  }

  @Test
  @DisplayName("says what is wrong, and that it is fine again")
  void answers() {
    AtomicInteger failures = new AtomicInteger(2);
    SchemaProbe probe =
        probe(
            () -> {
              switch (failures.getAndDecrement()) {
                case 2 -> throw new TransientOutboxException("the database restarts", null);
                case 1 -> throw new IllegalArgumentException("of no kind that is known");
                default -> {}
              }
            },
            Duration.ofMinutes(1));
    assertThat(probe.ask().text()).isEqualTo("the database restarts");
    assertThat(probe.ask().text()).contains("of no kind that is known");
    assertThat(probe.ask().severity()).isEqualTo(Severity.FINE);
  }
}
