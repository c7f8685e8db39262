package dev.outbox.publisher.core;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTextTest {
  private static final JsonFactory JACKSON = new JsonFactory();

  private static boolean isJson(String text) {
    return JsonText.of(text.getBytes(UTF_8)).isPresent();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        " [ ] ",
        "null",
        "\"\\u00fc\\n\\/ü\"",
        "-0.5e+10",
        "{\"a\":[1,2,{\"b\":null}],\"c\":true,\"\":false}",
        "\r\n\t 0 "
      })
  @DisplayName("one value is JSON")
  void is(String text) {
    assertThat(isJson(text)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "{} {}",
        "{},",
        "{}}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "[1,]",
        "[,]",
        "[",
        "\"",
        "\"\\\"",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\\u12\"",
        "\"\n\"",
        "01",
        "1.",
        ".5",
        "+1",
        "1e",
        "NaN",
        "tru",
        "nullx",
        "'a'",
        "/**/1",
        "\u0000",
        "1\u0000",
        "\u00a01"
      })
  @DisplayName("what is no value, or more than one, is not")
  void isNot(String text) {
    assertThat(isJson(text)).isFalse();
  }

  @Test
  @DisplayName("bytes that are not UTF-8 are not, and neither is what is nested without end")
  void bytes() {
    assertThat(JsonText.of(new byte[] {'"', (byte) 0xC3, '"'})).isEmpty();
    assertThat(isJson("[".repeat(100) + "]".repeat(100))).isTrue();
    assertThat(isJson("[".repeat(100_000) + "]".repeat(100_000))).isFalse();
  }

  @Test
  @DisplayName("it is what Jackson reads as one value")
  void likeJackson() throws IOException {
    long seed = Long.getLong("outbox.test.seed", System.nanoTime());
    Random random = new Random(seed);
    List<String> words =
        List.of(
            "{", "}", "[", "]", ",", ":", "\"a\"", "\"", "\\", "1", "-", "e5", ".5", "0", "true",
            "null", " ");
    int valid = 0;
    for (int i = 0; i < 50_000; i++) {
      StringBuilder text = new StringBuilder();
      for (int n = random.nextInt(8); n >= 0; n--) {
        text.append(words.get(random.nextInt(words.size())));
      }
      boolean expected = isOneValue(text.toString());
      valid += expected ? 1 : 0;
      if (isJson(text.toString()) != expected) {
        fail("%s, seed %d: Jackson says %s", text, seed, expected);
      }
    }
    assertThat(valid).isGreaterThan(500);
  }

  private static boolean isOneValue(String text) throws IOException {
    try (JsonParser parser = JACKSON.createParser(text)) {
      JsonToken first = parser.nextToken();
      if (first == null) {
        return false;
      }
      parser.skipChildren();
      return parser.getCurrentToken() != null
          && parser.getParsingContext().inRoot()
          && parser.getText() != null
          && parser.nextToken() == null;
    } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
      return false;
    }
  }
}
