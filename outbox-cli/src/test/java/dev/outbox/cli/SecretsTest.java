package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SecretsTest {

  @ParameterizedTest
  @DisplayName("passwords in URLs and settings are masked, the rest stays")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\'',
      value = {
        "jdbc:postgresql://h/d?user=a&password=pw&ssl=true | jdbc:postgresql://h/d?user=a&password=***&ssl=true",
        "to jdbc:postgresql://h/d?password=pw: refused     | to jdbc:postgresql://h/d?password=***: refused",
        "jdbc:postgresql://h/d?password=p:w/1              | jdbc:postgresql://h/d?password=***",
        "https://me:p@w@host:80/x                          | https://me:***@host:80/x",
        "Module required username=\"u\" password=\"a b;c\"; | Module required username=\"u\" password=***;",
        "sslPassword=x, PASSWORD = y                       | sslPassword=***, PASSWORD = ***",
        "no password was given                             | no password was given",
        "jdbc:postgresql://[::1]:5432/d                    | jdbc:postgresql://[::1]:5432/d",
      })
  void patterns(String text, String masked) {
    assertThat(Secrets.mask(text)).isEqualTo(masked);
  }

  @Test
  @DisplayName("a known secret is masked wherever it stands, the longer one first")
  void known() {
    Secrets.hide("tre$or");
    Secrets.hide("tre$or-room");
    assertThat(Secrets.mask("the tre$or-room's tre$or")).isEqualTo("the ***'s ***");
  }

  @Test
  @DisplayName("a secret too short to be told from ordinary words is left")
  void tooShort() {
    Secrets.hide("a");
    Secrets.hide("");
    Secrets.hide(null);
    assertThat(Secrets.mask("a banana")).isEqualTo("a banana");
  }
}
