package dev.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Headers as JSON")
class HeaderTest {

  @Property
  void anyTextComesBack(@ForAll List<String> texts) {
    List<Header> headers = texts.stream().map(text -> new Header(text, text + "'s value")).toList();
    assertThat(Header.fromJson(Header.toJson(headers))).isEqualTo(headers);
  }

  @Property
  void anyTextIsReadOrRefused(@ForAll String text) {
    try {
      assertThat(Header.fromJson(text)).isNotNull();
    } catch (IllegalArgumentException e) {
      assertThat(e).hasMessageContaining("at index");
    }
  }

  @Test
  @DisplayName("writes pairs, so that order and repeats stay")
  void pairs() {
    assertThat(Header.toJson(List.of())).isEqualTo("[]");
    assertThat(Header.toJson(List.of(new Header("a", "1"), new Header("a", "\"\\\n"))))
        .isEqualTo("[[\"a\",\"1\"],[\"a\",\"\\\"\\\\\\u000a\"]]");
  }

  @Test
  @DisplayName("reads an object as well, with white space and escapes")
  void object() {
    assertThat(Header.fromJson(" { \"a\" : \"\\u00e4\\/\\n\" , \"b\":\"\" } "))
        .containsExactly(new Header("a", "\u00e4/\n"), new Header("b", ""));
    assertThat(Header.fromJson("{}")).isEmpty();
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
    assertThatThrownBy(() -> Header.fromJson(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("expected ")
        .hasMessageContaining(" at index ");
  }
}
