package dev.outbox.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.StringReader;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
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
        "jdbc:postgresql://h:5432/d?user=a@b               | jdbc:postgresql://h:5432/d?user=a@b",
        "mongodb://u:p?w@h/d                               | mongodb://u:***@h/d",
        "jdbc:oracle:thin:scott/tiger@//db:1521/x          | jdbc:oracle:thin:scott/***@//db:1521/x",
        "M required password=\"a\\\"b\" username=\"u\";         | M required password=*** username=\"u\";",
      })
  void patterns(String text, String masked) {
    assertThat(Secrets.mask(text)).isEqualTo(masked);
  }

  @ParameterizedTest
  @DisplayName("a long payload is masked soon, whatever it has many of")
  @CsvSource({
    "'', y, ''",
    "'password=\"', y, '\"'",
    "password={, y, }",
    "password=, y, ''",
    "password={, }, ''",
    "password={, '\"a\":{}},', }",
    "'', 'password={ ', ''",
    "'', //a:80/x, ''"
  })
  void large(String begin, String many, String end) {
    String text = begin + many.repeat(200_000 / many.length()) + end;
    String masked = assertTimeoutPreemptively(Duration.ofMinutes(1), () -> Secrets.mask(text));
    assertThat(masked).isNotEmpty();
    if (many.equals("y") && !begin.isEmpty()) {
      assertThat(masked).isEqualTo("password=***");
    }
  }

  @Test
  @DisplayName("a known secret is masked wherever it stands, the longer one first")
  void known() {
    Secrets.hide("tre$or");
    Secrets.hide("tre$or-room");
    assertThat(Secrets.mask("the tre$or-room's tre$or")).isEqualTo("the ***'s ***");
  }

  @ParameterizedTest
  @DisplayName("the password of a URL is masked wherever it stands, as given and decoded")
  @CsvSource(
      delimiter = '|',
      value = {
        "jdbc:postgresql://h/d?password=mit1,komma2;mehr3 | it was mit1,komma2;mehr3",
        "jdbc:postgresql://h/d?password=p3r%20c3nt%26   | it was p3r c3nt&, p3r%20c3nt%26",
        "jdbc:mysql://(host=h,password=br4cket)/d       | it was br4cket",
        "jdbc:sqlserver://h;password={br4ce;}}s}        | it was br4ce;}s",
        "mongodb://u:at%40s1gn@h1,h2/d                  | it was at@s1gn",
        "jdbc:mysql://u:sl/4sh@h/d                      | it was sl/4sh",
      })
  void inUrls(String url, String text) {
    Secrets.hideIn(url);
    assertThat(Secrets.mask(text).replace(", ***", "")).isEqualTo("it was ***");
  }

  @Test
  @DisplayName("a password that is a name too is hidden only where it stands as the password")
  void names() {
    for (String url :
        List.of(
            "jdbc:postgresql://maple.local:5432/m4ple?user=u&password=m4ple&ssl=true",
            "jdbc:sqlserver://m4ple:1433;password=m4ple;databaseName=shop",
            "mongodb://m4ple:m4ple@h/d")) {
      Address unused = new Address(url, "", "");
      assertThat(Secrets.mask("cannot connect to " + url + ": m4ple is away"))
          .contains(url.replaceFirst("password=m4ple", "password=***").replace(":m4ple@", ":***@"))
          .endsWith(" m4ple is away");
    }
    Address unused = new Address("jdbc:postgresql://h/d", "b1rch_owner", "b1rch");
    assertThat(Secrets.mask("b1rch_owner has b1rch, password=b1rch"))
        .isEqualTo("b1rch_owner has b1rch, password=***");
    unused = new Address("jdbc:postgresql://h/d", "w1llow", "w1llow-pw");
    assertThat(Secrets.mask("w1llow has w1llow-pw")).isEqualTo("w1llow has ***");
  }

  @ParameterizedTest
  @DisplayName("a password in the URL and another one beside it are refused, and neither is shown")
  @CsvSource({
    "jdbc:postgresql://h/d?user=a&password=c1nder",
    "jdbc:mysql://a:c1nder@h/d",
    "jdbc:sqlserver://h;user=a;Password=c1nder;databaseName=d",
    "mongodb://a:c1nder@h/d"
  })
  void twoPasswords(String url) {
    assertThatThrownBy(() -> DatabaseOptions.password(url, null, "v4riable"))
        .isInstanceOf(Failure.class)
        .hasMessageContaining("has a password, and the variable OUTBOX_PASSWORD gives another");
    assertThatThrownBy(() -> DatabaseOptions.password(url, "0ption", "v4riable"))
        .hasMessageContaining("and --password gives another");
    assertThat(DatabaseOptions.password(url, null, null)).isEmpty();
    assertThat(DatabaseOptions.password("jdbc:mysql://h/d?trustStorePassword=x", "o", "v"))
        .isEqualTo("o");
    assertThat(DatabaseOptions.password("jdbc:postgresql://h/d?user=a", null, "v")).isEqualTo("v");
    assertThat(DatabaseOptions.password("jdbc:mysql://h/d", null, "of a file\r\n"))
        .isEqualTo("of a file");
  }

  @ParameterizedTest
  @DisplayName("the secrets of a publisher are masked, each alone too")
  @CsvSource(
      delimiter = '|',
      value = {
        "kafka | kafka.ssl.keystore.key=-----BEGIN KEY-----\\nAbCd0123\\n-----END KEY----- | AbCd0123",
        "http  | http.header.Cookie=session=c00kie  | session=c00kie",
        "http  | http.signingSecrets=wh0ops, wh1ops | wh0ops and wh1ops",
        "http  | http.signingSecrets=wh2ops wh3ops | wh2ops and wh3ops",
        "kafka | kafka.basic.auth.user.info=me:us3r1nfo | me:us3r1nfo"
      })
  void ofPublishers(String publisher, String property, String text) throws Exception {
    Properties properties = new Properties();
    properties.load(
        new StringReader(
            "store.url=jdbc:postgresql://h/d\npublisher.pluginProperties=basic.auth.\npublisher="
                + publisher
                + "\n"
                + property));
    Map<String, RelayConfig> unused = RelayConfig.all(properties, name -> null);
    assertThat(Secrets.mask("it was " + text).replace(" and ***", "")).isEqualTo("it was ***");
  }

  @Test
  @DisplayName("lines that libraries print are masked too, whole lines at a time")
  void stream() {
    Secrets.hide("str3am");
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream out = Secrets.masking(new PrintStream(bytes, true, UTF_8));
    out.print("begins str3");
    assertThat(bytes.toString(UTF_8)).isEmpty();
    out.println("am \u00e9nds");
    out.println("jdbc:mysql://a:pw@h/d");
    assertThat(bytes.toString(UTF_8).lines())
        .containsExactly("begins *** \u00e9nds", "jdbc:mysql://a:***@h/d");
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
