package dev.outbox.store.jdbc.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Rows as JSON")
class JsonRowsTest {

  private static String json(List<?>... rows) {
    return JsonRows.of(List.of(rows), Function.identity());
  }

  @Test
  @DisplayName("are arrays of numbers, truth values and texts")
  void values() {
    assertThat(json(List.of(3, "a", true), List.of(-4L, "b", false)))
        .isEqualTo("[[3,\"a\",true],[-4,\"b\",false]]");
    assertThat(json()).isEqualTo("[]");
  }

  @Test
  @DisplayName("carry every text: quotes, backslashes and control characters are escaped")
  void texts() {
    assertThat(json(List.of("a\"b\\c"))).isEqualTo("[[\"a\\\"b\\\\c\"]]");
    assertThat(json(List.of("\0\n\u001f \u007fé😀")))
        .isEqualTo("[[\"\\u0000\\u000a\\u001f \u007fé😀\"]]");
  }
}
