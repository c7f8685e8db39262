package dev.outbox.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.store.Claim;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** How much every relational store reads at once. */
public abstract class ReadTests extends DatabaseTests {

  protected ReadTests(TestedStore tested) {
    super(tested);
  }

  @Test
  @DisplayName("as many large messages as the bytes asked for have room for, not one by one")
  void largeMessages() {
    database.inTransaction(
        false,
        c -> {
          for (int i = 0; i < 10; i++) {
            store.append(c, message(new byte[1_000]));
          }
        });
    Claim.Request request = new Claim.Request("test", 100, 3_500, Duration.ofMinutes(1));
    assertThat(store.claim(request).messages()).hasSize(3);
  }
}
