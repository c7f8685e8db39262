package dev.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TextsTest {

  @ParameterizedTest
  @DisplayName("a text without what controls a terminal stays as it is")
  @ValueSource(strings = {"", "plain", "\u00FC \u4E2D \uD83D\uDE00 \u05D0\u200D", "a\uD800b"})
  void printable(String text) {
    assertThat(Texts.printable(text)).isEqualTo(text);
  }

  @Test
  @DisplayName("new lines, escape sequences and turned directions are shown, not carried out")
  void controls() {
    assertThat(Texts.printable("a\r\nb\u001B[2J\0\u0085\u2028\u202Ec\u2066\uD83D\uDE00"))
        .isEqualTo("a\\u000d\\u000ab\\u001b[2J\\u0000\\u0085\\u2028\\u202ec\\u2066\uD83D\uDE00");
  }

  @Test
  @DisplayName("the closest of several names is found, whatever the case")
  void closest() {
    List<String> known = List.of("relay.workers", "relay.lease", "store.url");
    assertThat(Texts.closest("RELAY.worker", known)).isEqualTo("relay.workers");
    assertThat(Texts.closest("storeurl", known)).isEqualTo("store.url");
    assertThat(Texts.closest("x", List.of())).isEmpty();
  }

  @ParameterizedTest(name = "{0}: {1}")
  @DisplayName("a time is shown as people write it")
  @CsvSource({
    "PT0S, 0s",
    "PT0.092S, 92ms",
    "PT0.092999S, 92ms",
    "PT0.000999999S, 0.999999ms",
    "PT1.5S, 1.5s",
    "PT31.000000001S, 31s",
    "PT90S, 90s",
    "PT5M, 5m",
    "PT25H, 25h",
    "P30D, 30d",
    "PT-0.001S, -1ms",
    "PT-1.5S, -1.5s",
    "PT-2M, -2m",
  })
  void times(Duration time, String shown) {
    assertThat(Texts.time(time)).isEqualTo(shown);
  }

  @Test
  @DisplayName("so is the longest there is")
  void longest() {
    assertThat(Texts.time(Duration.ofSeconds(Long.MAX_VALUE, 999_999_999)))
        .isEqualTo("9223372036854775807.999s");
    assertThat(Texts.time(Duration.ofSeconds(Long.MIN_VALUE))).isEqualTo("-9223372036854775808s");
  }

  @Test
  @DisplayName("of errors are cut and cleaned")
  void errors() {
    assertThat(Texts.clean(null)).isEqualTo("(no text)");
    assertThat(Texts.clean("a\0b\uD800c")).isEqualTo("a\uFFFDb\uFFFDc");
    String emoji = "\uD83D\uDE00".repeat(Texts.MAX_ERROR);
    assertThat(Texts.clean(emoji + "x")).isEqualTo(emoji);
  }
}
