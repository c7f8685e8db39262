package dev.outbox.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Header;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The header codec")
class HeaderCodecTest {

  @Property
  void anyTextComesBack(@ForAll List<String> texts) {
    List<Header> headers = texts.stream().map(text -> new Header(text, text + "'s value")).toList();
    assertThat(HeaderCodec.decode(HeaderCodec.encode(headers))).isEqualTo(headers);
  }

  @Property
  void anyTextComesBackFromAscii(@ForAll List<String> texts) {
    List<Header> headers = texts.stream().map(text -> new Header(text, text + "'s value")).toList();
    String json = HeaderCodec.encodeInAscii(headers);
    assertThat(json.chars()).allMatch(c -> c >= ' ' && c < 0x7F);
    assertThat(HeaderCodec.decode(json)).isEqualTo(headers);
    assertThat(texts)
        .allSatisfy(
            text ->
                assertThat(HeaderCodec.decode("[[" + HeaderCodec.quoteInAscii(text) + ",\"\"]]"))
                    .containsExactly(new Header(text, "")));
  }

  @Property
  void anyTextIsReadOrRefused(@ForAll String text) {
    try {
      assertThat(HeaderCodec.decode(text)).isNotNull();
    } catch (IllegalArgumentException e) {
      assertThat(e).hasMessageContaining("at index");
    }
  }

  @Test
  @DisplayName("writes pairs, so that order and repeats stay")
  void pairs() {
    assertThat(HeaderCodec.encode(List.of())).isEqualTo("[]");
    assertThat(HeaderCodec.encode(List.of(new Header("a", "1"), new Header("a", "\"\\\n"))))
        .isEqualTo("[[\"a\",\"1\"],[\"a\",\"\\\"\\\\\\u000a\"]]");
  }

  @Test
  @DisplayName("reads an object as well, with white space and escapes")
  void object() {
    assertThat(HeaderCodec.decode(" { \"a\" : \"\\u00e4\\/\\n\" , \"b\":\"\" } "))
        .containsExactly(new Header("a", "\u00e4/\n"), new Header("b", ""));
    assertThat(HeaderCodec.decode("{}")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "1",
        "[1]",
        "[[\"a\"]]",
        "[[\"a\",1]]",
        "[[\"a\",\"b\",\"c\"]]",
        "[[\"a\",\"b\"]",
        "[[\"a\",\"b\"]] x",
        "[[\"a\",\"\\x\"]]",
        "[[\"a\",\"\\u12\"]]",
        "[[\"a\",\"b]]",
        "{\"a\":null}",
        "{\"a\":{}}"
      })
  @DisplayName("says what is wrong, and where")
  void wrong(String text) {
    assertThatThrownBy(() -> HeaderCodec.decode(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("expected ")
        .hasMessageContaining(" at index ");
  }

  @Test
  @DisplayName("beside it, error texts are cut and cleaned")
  void errorTexts() {
    assertThat(ErrorText.clean(null)).isEqualTo("(no text)");
    assertThat(ErrorText.clean("a\0b\uD800c")).isEqualTo("a\uFFFDb\uFFFDc");
    String emoji = "\uD83D\uDE00".repeat(ErrorText.MAX);
    assertThat(ErrorText.clean(emoji + "x")).isEqualTo(emoji);
  }
}
