package dev.outbox.spi.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Texts;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A decision")
class DecisionTest {
  private static @Nullable String answer(Supplier<String> answer) {
    return Decision.delivered(answer).answer();
  }

  @Test
  @DisplayName("a broker's answer is asked for late, cleaned, and never fails")
  void answers() {
    assertThat(Decision.delivered().answer()).isNull();
    assertThat(answer(() -> "orders-3@1742")).isEqualTo("orders-3@1742");
    assertThat(answer(() -> "\u0000")).isEqualTo("\uFFFD");
    assertThat(answer(() -> "\u0000\uD800".repeat(5 * Texts.MAX_ERROR)))
        .isEqualTo("\uFFFD".repeat(Texts.MAX_ERROR));
    assertThat(answer(() -> "")).as("no text").isNull();
    assertThat(answer(() -> null)).as("a source that has none").isNull();
    assertThat(
            answer(
                () -> {
                  throw new IllegalStateException("closed");
                }))
        .isEqualTo("the answer cannot be told: java.lang.IllegalStateException");
    assertThat(
            answer(
                () -> {
                  throw new NoClassDefFoundError("RecordMetadata");
                }))
        .as("a class that is no longer there")
        .isEqualTo("the answer cannot be told: java.lang.NoClassDefFoundError");
    Decision asked =
        Decision.delivered(
            () -> {
              throw new AssertionError("was asked");
            });
    assertThat(asked).hasToString("Delivered[]");
  }

  @Test
  @DisplayName("delivered is delivered, whatever the broker answered")
  void equalWhateverTheAnswer() {
    assertThat(Decision.delivered(() -> "orders-3@1742"))
        .isEqualTo(Decision.delivered())
        .hasSameHashCodeAs(Decision.delivered())
        .isNotEqualTo(Decision.dead("no"));
  }
}
