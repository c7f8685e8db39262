package dev.outbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.InvalidMessageException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("What an inbox is given")
class InboxTypesTest {

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      ignoreLeadingAndTrailingWhitespace = false,
      value = {
        "''|is blank: give it at least one visible character",
        "'  '|is blank: give it at least one visible character",
        "\u0000|has a NUL at index 0, which databases do not store: remove it",
        "a\uD83D|has half a surrogate pair at index 1, which is not Unicode: remove it",
        "\uDE80|has half a surrogate pair at index 0, which is not Unicode: remove it",
      })
  @DisplayName("keys that no database stores are refused, naming which text and why")
  void refusedKeys(String text, String why) {
    assertThatThrownBy(() -> new InboxKey(text, "m"))
        .isInstanceOf(InvalidMessageException.class)
        .hasMessage("consumer " + why);
    assertThatThrownBy(() -> new InboxKey("c", text))
        .isInstanceOf(InvalidMessageException.class)
        .hasMessage("messageId " + why);
  }

  @Test
  @DisplayName("keys have up to 255 characters, however many bytes those are")
  void longKeys() {
    String longest = "\uD83D\uDE80".repeat(255);
    assertThat(new InboxKey(longest, longest).messageId()).isEqualTo(longest);
    assertThatThrownBy(() -> new InboxKey("c", longest + "x"))
        .isInstanceOf(InvalidMessageException.class)
        .hasMessage(
            "messageId has 256 characters, at most 255 are allowed: shorten it, or send its hash");
    assertThatThrownBy(() -> new InboxKey(null, "m"))
        .isInstanceOf(InvalidMessageException.class)
        .hasMessageStartingWith("consumer is missing");
  }

  @Test
  @DisplayName("keys are compared exactly")
  void exactKeys() {
    assertThat(new InboxKey("c", "m"))
        .isEqualTo(new InboxKey("c", "m"))
        .isNotEqualTo(new InboxKey("c", "M"))
        .isNotEqualTo(new InboxKey("c ", "m"))
        .isNotEqualTo(new InboxKey("m", "c"));
  }

  @Test
  @DisplayName("results are copied, limited, and compared by what they contain")
  void results() {
    byte[] content = bytes("shipped");
    InboxResult result = InboxResult.of(content, "text/plain");
    content[0] = 'S';
    result.content()[1] = 'H';
    assertThat(result).isEqualTo(InboxResult.of(bytes("shipped"), "text/plain"));
    assertThat(result).hasSameHashCodeAs(InboxResult.of(bytes("shipped"), "text/plain"));
    assertThat(result)
        .isNotEqualTo(InboxResult.of(bytes("shipped"), null))
        .isNotEqualTo(InboxResult.of(bytes("Shipped"), "text/plain"))
        .hasToString("7 bytes of text/plain");
    assertThat(InboxResult.of(new byte[0], null)).isEqualTo(InboxResult.none());
    assertThat(InboxResult.of(new byte[InboxResult.MAX_CONTENT], null).content())
        .hasSize(InboxResult.MAX_CONTENT);
    assertThatThrownBy(() -> InboxResult.of(new byte[InboxResult.MAX_CONTENT + 1], null))
        .isInstanceOf(InvalidMessageException.class)
        .hasMessage(
            "the result has 1000001 bytes, at most 1000000 are allowed: store it elsewhere and keep a reference");
    assertThatThrownBy(() -> InboxResult.of(content, " "))
        .isInstanceOf(InvalidMessageException.class)
        .hasMessageStartingWith("contentType is blank");
  }

  @Test
  @DisplayName("a fingerprint differs from another one, and from none never")
  void fingerprints() {
    Fingerprint one = Fingerprint.of(bytes("a"), bytes("b"));
    assertThat(one).isEqualTo(Fingerprint.of(bytes("ab"))).isNotEqualTo(Fingerprint.none());
    assertThat(one.bytes()).hasSize(32);
    Fingerprint other = Fingerprint.ofHash(bytes("other"));
    assertThat(one.differsFrom(other)).isTrue();
    assertThat(one.differsFrom(Fingerprint.of(bytes("ab")))).isFalse();
    assertThat(one.differsFrom(Fingerprint.none())).isFalse();
    assertThat(Fingerprint.none().differsFrom(one)).isFalse();
    assertThat(one.or(other)).isEqualTo(one);
    assertThat(Fingerprint.none().or(other)).isEqualTo(other);
    assertThat(Fingerprint.ofHash(new byte[0])).isEqualTo(Fingerprint.none());
    assertThat(Fingerprint.ofHash(new byte[Fingerprint.MAX]).bytes()).hasSize(Fingerprint.MAX);
    assertThatThrownBy(() -> Fingerprint.ofHash(new byte[Fingerprint.MAX + 1]))
        .isInstanceOf(InvalidMessageException.class)
        .hasMessage("the fingerprint has 65 bytes, at most 64 are allowed: give a hash");
  }

  @Test
  @DisplayName("who is told that a key is in progress is told for how long")
  void inProgress() {
    Inbox.InProgressException e =
        new Inbox.InProgressException(new InboxKey("shipping", "42"), Duration.ofMinutes(2));
    assertThat(e.left()).isEqualTo(Duration.ofMinutes(2));
    assertThat(e)
        .hasMessage(
            "message 42 of consumer shipping is being handled, and locked for 2m unless that is"
                + " renewed: roll back, and run the transaction again after that");
  }
}
