package dev.outbox.store.core.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Names")
class PrefixedNamesTest {

  @Test
  @DisplayName("fill a statement, with a schema and without")
  void fill() {
    String sql = "select 1 from ${q}${p}message join ${q}${p}bucket";
    assertThat(new PrefixedNames(null, "x_").fill(sql))
        .isEqualTo("select 1 from x_message join x_bucket");
    assertThat(new PrefixedNames("s", "x_").fill(sql))
        .isEqualTo("select 1 from s.x_message join s.x_bucket");
    assertThat(new PrefixedNames("s", "x_").table("message")).isEqualTo("s.x_message");
    assertThat(new PrefixedNames(null, "x_").table("message")).isEqualTo("x_message");
  }

  @ParameterizedTest
  @DisplayName("that could be more than a name are refused, and said")
  @ValueSource(
      strings = {
        "", "A", "1a", "a-b", "a b", "a;drop",
        "a\"", "é", " ", "a ", " a", "a.b",
        "a'b", "a`b", "a[b]", "a--", "a/*", "a\\",
        "a\0", "a\n", "\na", "a$", "$a", "${q}",
        "${env:PATH}", ":a", "a?", "a%s", "@a", "#a",
        "aB", "a\u0301", "\u0430", "a\u200B", "\uFF41", "a\uD83D\uDE00",
        "a\u0660", "system.users"
      })
  void refused(String name) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new PrefixedNames(null, name))
        .withMessageStartingWith("prefix '%s' is not a plain name: use 1 to 30 ", name);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new PrefixedNames(name, "x"))
        .withMessageStartingWith("schema '%s' is not a plain name: use 1 to 63 ", name);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> PrefixedNames.plain("relay", name))
        .withMessageStartingWith("relay '%s' is not a plain name: use 1 to 63 ", name);
  }

  @Test
  @DisplayName("of the longest are taken, and longer ones refused")
  void longest() {
    String longest = "a".repeat(63);
    assertThat(new PrefixedNames(longest, "a".repeat(30)).schema()).isEqualTo(longest);
    assertThat(PrefixedNames.plain("relay", longest)).isEqualTo(longest);
    assertThatIllegalArgumentException().isThrownBy(() -> new PrefixedNames("a".repeat(64), "x"));
    assertThatIllegalArgumentException().isThrownBy(() -> new PrefixedNames(null, "a".repeat(31)));
  }

  @Test
  @DisplayName("a file that is missing in the class path is named")
  void missingResource() {
    assertThatIllegalStateException()
        .isThrownBy(() -> PrefixedNames.resource(PrefixedNames.class, "no-such.sql"))
        .withMessageContaining("no-such.sql");
  }

  @Test
  @DisplayName("a file in the class path is read as text")
  void resource() {
    assertThat(PrefixedNames.resource(PrefixedNames.class, "/junit-platform.properties"))
        .contains("jqwik");
  }
}
