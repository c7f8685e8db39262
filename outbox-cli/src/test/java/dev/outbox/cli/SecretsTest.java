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
        "jdbc:mysql://root:p/w@h:3306/d?useSSL=true        | jdbc:mysql://root:***@h:3306/d?useSSL=true",
        "jdbc:mysql://:pw@h/d                              | jdbc:mysql://:***@h/d",
        "jdbc:mysql://u:pw1@h1:3306,u:pw2@h2/d             | jdbc:mysql://u:***@h2/d",
        "jdbc:mysql://h/d?user=a&password=p%26w&password2=x | jdbc:mysql://h/d?user=a&password=***&password2=***",
        "jdbc:mysql://(host=h,user=a,password=pw)/d        | jdbc:mysql://(host=h,user=a,password=***",
        "jdbc:mysql://address=(host=h)(password=pw)(port=1)/d | jdbc:mysql://address=(host=h)(password=***",
        "jdbc:mariadb://h/d?user=a&password=pw: no route   | jdbc:mariadb://h/d?user=a&password=***: no route",
        "jdbc:sqlserver://h:1433;user=a@h;password=pw;encrypt=true | jdbc:sqlserver://h:1433;user=a@h;password=***;encrypt=true",
        "jdbc:sqlserver://h;password={a;b}}c d};database=x | jdbc:sqlserver://h;password=***;database=x",
        "jdbc:sqlserver://h;trustStorePassword=a;accessToken=b; | jdbc:sqlserver://h;trustStorePassword=***;accessToken=***;",
        "mongodb://u:pw@h1:27017,h2:27017/d?w=1 via a@b    | mongodb://u:***@h1:27017,h2:27017/d?w=1 via a@b",
        "mongodb+srv://u:p%40w@h/d, user x                 | mongodb+srv://u:***@h/d, user x",
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
